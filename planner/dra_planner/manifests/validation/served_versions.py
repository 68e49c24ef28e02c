"""The kinds and API versions that a Kubernetes version serves, and replacements for other kinds and
versions.

Source: kubernetes/api:resource/v1*/zz_generated.prerelease-lifecycle.go@v0.36.3, and the
deprecation guide.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dra_planner.releases import (
    RELEASES,
    Features,
    has_mutating_policies,
    served_since,
    serves,
)

RESOURCE: Final = "resource.k8s.io"
_RESOURCE_KINDS: Final = frozenset().union(
    *(release.resource_kinds for release in RELEASES.values())
)
_CORE_KINDS: Final = frozenset(
    {
        "Binding",
        "ComponentStatus",
        "ConfigMap",
        "Endpoints",
        "Event",
        "LimitRange",
        "List",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "PodTemplate",
        "ReplicationController",
        "ResourceQuota",
        "Secret",
        "Service",
        "ServiceAccount",
    }
)
_SERVED: Final = {
    "apps/v1": frozenset(
        {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}
    ),
    "batch/v1": frozenset({"CronJob", "Job"}),
    "autoscaling/v1": frozenset({"HorizontalPodAutoscaler"}),
    "autoscaling/v2": frozenset({"HorizontalPodAutoscaler"}),
    "scheduling.k8s.io/v1": frozenset({"PriorityClass"}),
    "policy/v1": frozenset({"PodDisruptionBudget"}),
}
_GROUPS: Final = frozenset(version.partition("/")[0] for version in _SERVED)
# the versions of ComputeDomain in every version of the NVIDIA driver
_DOMAIN_VERSION: Final = "v1beta1"
_SCHEDULING: Final = "scheduling.k8s.io"
_GROUP_KINDS: Final = frozenset({"Workload", "PodGroup"})
_GROUP_VERSIONS: Final = frozenset().union(
    *(release.pod_group_versions for release in RELEASES.values())
)
_ADMISSION: Final = "admissionregistration.k8s.io"
_POLICIES: Final = frozenset({"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
_MUTATING: Final = frozenset({"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"})
PRINTS_V1_FORM: Final = ". To print the manifest in v1, run `pulumi-dra check --rewrite`"
MOVES_PARAMETERS: Final = ". If you pass both objects, `pulumi-dra check --rewrite` does this"
"""Suffixes of fixes, which apply only to objects that the command can rewrite."""
_OLD_KINDS: Final = {
    "ResourceClass": "use a DeviceClass that selects the driver, because Kubernetes 1.31 removed "
    f"ResourceClass{PRINTS_V1_FORM}",
    "PodSchedulingContext": "remove the object, because Kubernetes 1.32 removed "
    "PodSchedulingContext",
    "ResourceClaimParameters": (
        "use spec.devices of the claim instead, because Kubernetes 1.31 removed parameter objects"
    ),
    "ResourceClassParameters": (
        "use spec.config of a DeviceClass instead, because Kubernetes 1.31 removed parameter "
        "objects"
    ),
}
_PARAMETERS: Final = frozenset(
    {
        "GpuClaimParameters",
        "MigDeviceClaimParameters",
        "ComputeInstanceClaimParameters",
        "DeviceClassParameters",
        "GpuClassParameters",
        "GaudiClaimParameters",
        "GaudiClassParameters",
    }
)
"""Kinds that the drivers of classic allocation installed."""
_OLD_VERSIONS: Final = {
    "v1alpha1": "Kubernetes 1.27 removed resource.k8s.io/v1alpha1",
    "v1alpha2": "Kubernetes 1.31 removed resource.k8s.io/v1alpha2",
    "v1alpha3": "Kubernetes 1.34 removed claims, classes, and slices from resource.k8s.io/v1alpha3",
    "v1beta1": "resource.k8s.io/v1beta1 is off by default, and Kubernetes 1.38 removes it",
    "v1beta2": "resource.k8s.io/v1beta2 is off by default, and Kubernetes 1.39 removes it",
}


class _UnservedKind(Struct, frozen=True):
    """A kind and an API version that a Kubernetes version with these features doesn't serve."""

    group: str
    version: str
    kind: str
    features: Features

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


def not_served_reason(api_version: str, kind: str, features: Features) -> tuple[str, str] | None:
    """Return why this version doesn't serve a kind, with a fix.

    Returns None if the version serves the kind, or if the kind is unknown.
    """
    if serves(features.served, api_version, kind, features.minor):
        return None
    group, _, version = api_version.rpartition("/")
    fix = _fix(_UnservedKind(group, version, kind, features))
    return (f'no matches for kind "{kind}" in version "{api_version}"', fix) if fix else None


def _fix(unserved: _UnservedKind) -> str:
    """Return the required change from the first group of kinds that contains this kind.

    Returns "" for a kind that is served or unknown.
    """
    group, kind = unserved.group, unserved.kind
    if group == RESOURCE:
        return _fix_of_resource(unserved)
    if group == _ADMISSION and kind in _POLICIES | _MUTATING:
        return _fix_of_policy(unserved)
    if kind in _RESOURCE_KINDS and group in ("", "resource.kubernetes.io"):
        return f"set apiVersion to {RESOURCE}/v1"
    if not group:
        return _fix_of_core(unserved)
    if kind == "ComputeDomain" and group == "resource.nvidia.com":
        return _fix_of_domain(unserved)
    if kind in _PARAMETERS and group.endswith((".nvidia.com", ".intel.com")):
        return (
            "move the content of the parameters under `devices` in the claim, because Kubernetes "
            f"1.31 removed driver parameters{MOVES_PARAMETERS}"
        )
    if group == _SCHEDULING and kind in _GROUP_KINDS and unserved.version in _GROUP_VERSIONS:
        return _fix_of_pod_group(unserved)
    if group in _GROUPS or group == "extensions":
        return _fix_of_workload(unserved)
    return ""


def _fix_of_core(unserved: _UnservedKind) -> str:
    if unserved.version == "v1" and unserved.kind in _CORE_KINDS:
        return ""
    home = next((known for known, kinds in _SERVED.items() if unserved.kind in kinds), "")
    return f"set apiVersion to {home}" if home else f"add {unserved.kind}'s API group to apiVersion"


def _fix_of_domain(unserved: _UnservedKind) -> str:
    if unserved.version == _DOMAIN_VERSION:
        return ""
    return (
        f"set apiVersion to {unserved.group}/{_DOMAIN_VERSION}, the only version that the NVIDIA driver "
        "installs"
    )


def _fix_of_pod_group(unserved: _UnservedKind) -> str:
    features, version = unserved.features, unserved.version
    if version in features.pod_group_versions:
        if features.workload_claims:
            return ""
        return f"enable {unserved.api_version} in the API server, which doesn't serve it by default"
    having = ", ".join(
        each.version for each in RELEASES.values() if version in each.pod_group_versions
    )
    return f"use Kubernetes {having}, whose API server can serve {unserved.api_version}"


def _fix_of_workload(unserved: _UnservedKind) -> str:
    if unserved.kind in _SERVED.get(unserved.api_version, ()):
        return ""
    served = [
        known
        for known, kinds in _SERVED.items()
        if unserved.kind in kinds and unserved.version != known
    ]
    # autoscaling/v2 has the fields of autoscaling/v2beta2
    served.sort(key=lambda known: not unserved.api_version.startswith(known))
    return f"set apiVersion to {served[0]}" if served else "check kind and apiVersion"


def _fix_of_policy(unserved: _UnservedKind) -> str:
    """Return the fix for an admission policy. Source:
    kubernetes/api:admissionregistration/v1*/zz_generated.prerelease-lifecycle.go@v0.36.3.
    """
    if unserved.kind in _POLICIES or has_mutating_policies(unserved.features.minor):
        return "" if unserved.version == "v1" else f"set apiVersion to {_ADMISSION}/v1"
    return (
        f"use Kubernetes 1.36, which serves {unserved.kind}, or set {_ADMISSION}/v1beta1 in the "
        "fleet's runtimeConfig if the API server serves it"
    )


def _fix_of_resource(unserved: _UnservedKind) -> str:
    kind, version = unserved.kind, unserved.version
    if version == "v1":
        return _fix_of_stable_resource(kind, unserved.features)
    if kind in _OLD_KINDS:
        return _OLD_KINDS[kind]
    is_newer = kind in _RESOURCE_KINDS and kind not in unserved.features.resource_kinds
    if is_newer and version in _OLD_VERSIONS:
        return (
            f"use Kubernetes {served_since(kind)} or later, which serves {kind} as "
            f"{RESOURCE}/v1; if the API server serves {RESOURCE}/{version}, set this version "
            "in the fleet's runtimeConfig"
        )
    reason = _OLD_VERSIONS.get(version, f"{RESOURCE}/{version} doesn't exist")
    if (kind, version) == ("DeviceTaintRule", "v1alpha3"):
        reason = f"{RESOURCE}/{version} is off by default"
    rewrite = PRINTS_V1_FORM if kind in _RESOURCE_KINDS else ""
    return f"use {RESOURCE}/v1, because {reason}{rewrite}"


def _fix_of_stable_resource(kind: str, features: Features) -> str:
    if kind in features.resource_kinds:
        return ""
    if kind in _RESOURCE_KINDS:
        return f"use Kubernetes {served_since(kind)} or later, which serves {kind} as {RESOURCE}/v1"
    near = next((known for known in _RESOURCE_KINDS if known.lower() == kind.lower()), "")
    return f"set kind to {near}" if near else _OLD_KINDS.get(kind, "check the spelling of kind")
