"""The kinds and API versions that a Kubernetes version serves, and replacements for the others.

Source: kubernetes/api:resource/v1*/zz_generated.prerelease-lifecycle.go@v0.36.3, and the
deprecation guide.
"""

from __future__ import annotations

from typing import Final

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
_DOMAIN_VERSION: Final = "v1beta1"  # of ComputeDomain in every release of the NVIDIA driver
_SCHEDULING: Final = "scheduling.k8s.io"
_GROUP_KINDS: Final = frozenset({"Workload", "PodGroup"})
_GROUP_VERSIONS: Final = frozenset().union(
    *(release.pod_group_versions for release in RELEASES.values())
)
_ADMISSION: Final = "admissionregistration.k8s.io"
_POLICIES: Final = frozenset({"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
_MUTATING: Final = frozenset({"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"})
PRINTS_V1_FORM: Final = "; `pulumi-dra check --rewrite` prints the v1 form"
MOVES_PARAMETERS: Final = "; `pulumi-dra check --rewrite` does this if you pass both objects"
"""Ends of fixes, which apply only to objects that the command can rewrite."""
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
    "v1alpha1": "resource.k8s.io/v1alpha1 was removed in 1.27",
    "v1alpha2": "resource.k8s.io/v1alpha2 was removed in 1.31",
    "v1alpha3": "resource.k8s.io/v1alpha3 doesn't contain claims, classes, or slices since 1.34",
    "v1beta1": "resource.k8s.io/v1beta1 is off by default, and Kubernetes 1.38 removes it",
    "v1beta2": "resource.k8s.io/v1beta2 is off by default, and Kubernetes 1.39 removes it",
}


def why_not_served(api_version: str, kind: str, features: Features) -> tuple[str, str] | None:
    """Return why this version doesn't serve such a kind, with a fix, or None if it does or if the
    kind is unknown.
    """
    group, _, version = api_version.rpartition("/")
    message = f'no matches for kind "{kind}" in version "{api_version}"'
    if serves(features.served, api_version, kind, features.minor):
        return None
    if group == RESOURCE:
        return _why_no_resource(version, kind, features, message)
    if group == _ADMISSION and kind in _POLICIES | _MUTATING:
        return _why_no_policy(version, kind, features, message)
    if kind in _RESOURCE_KINDS and (not group or group == "resource.kubernetes.io"):
        return message, f"set apiVersion: {RESOURCE}/v1"
    if not group:
        if version == "v1" and kind in _CORE_KINDS:
            return None
        home = next((known for known, kinds in _SERVED.items() if kind in kinds), "")
        return (
            message,
            f"set apiVersion: {home}" if home else f"add the group of {kind} to apiVersion",
        )
    if kind == "ComputeDomain" and group == "resource.nvidia.com" and version != _DOMAIN_VERSION:
        return (
            message,
            (
                f"set apiVersion: {group}/{_DOMAIN_VERSION}, the only version that the NVIDIA "
                "driver installs"
            ),
        )
    if kind in _PARAMETERS and group.endswith((".nvidia.com", ".intel.com")):
        return message, (
            "move the content of the parameters below devices of the claim, because Kubernetes "
            f"1.31 removed driver parameters{MOVES_PARAMETERS}"
        )
    if group == _SCHEDULING and kind in _GROUP_KINDS and version in _GROUP_VERSIONS:
        if version in features.pod_group_versions:
            if features.workload_claims:
                return None
            return (
                message,
                f"enable {group}/{version} in the API server, which doesn't serve it by default",
            )
        having = ", ".join(
            each.version for each in RELEASES.values() if version in each.pod_group_versions
        )
        return (
            message,
            f"use Kubernetes {having}, whose API server can serve {group}/{version}",
        )
    if group in _GROUPS or group == "extensions":
        served = next(
            (known for known, kinds in _SERVED.items() if kind in kinds and version != known), ""
        )
        if kind in _SERVED.get(api_version, ()):
            return None
        return message, f"set apiVersion: {served}" if served else "check kind and apiVersion"
    return None


def _why_no_policy(
    version: str, kind: str, features: Features, message: str
) -> tuple[str, str] | None:
    """Return why an admission policy isn't served. Source: kubernetes/api:
    admissionregistration/v1*/zz_generated.prerelease-lifecycle.go@v0.36.3.
    """
    if kind in _POLICIES or has_mutating_policies(features.minor):
        return None if version == "v1" else (message, f"set apiVersion: {_ADMISSION}/v1")
    return message, (
        f"use Kubernetes 1.36, which serves {kind}, or set {_ADMISSION}/v1beta1 in runtimeConfig "
        "of the fleet if the API server serves it"
    )


def _why_no_resource(
    version: str, kind: str, features: Features, message: str
) -> tuple[str, str] | None:
    if version == "v1":
        if kind in features.resource_kinds:
            return None
        if kind in _RESOURCE_KINDS:
            return message, (
                f"use Kubernetes {served_since(kind)} or later, which serves {kind} as "
                f"{RESOURCE}/v1"
            )
        near = next((known for known in _RESOURCE_KINDS if known.lower() == kind.lower()), "")
        return message, f"set kind: {near}" if near else _OLD_KINDS.get(
            kind, "check the spelling of kind"
        )
    if kind in _OLD_KINDS:
        return message, _OLD_KINDS[kind]
    if kind in _RESOURCE_KINDS and kind not in features.resource_kinds and version in _OLD_VERSIONS:
        return message, (
            f"use Kubernetes {served_since(kind)} or later, which serves {kind} as {RESOURCE}/v1; "
            f"if the API server serves {RESOURCE}/{version}, set this version in runtimeConfig of "
            "the fleet"
        )
    reason = _OLD_VERSIONS.get(version, f"{RESOURCE}/{version} doesn't exist")
    if (kind, version) == ("DeviceTaintRule", "v1alpha3"):
        reason = f"{RESOURCE}/{version} is off by default"
    rewrite = PRINTS_V1_FORM if kind in _RESOURCE_KINDS else ""
    return message, f"use {RESOURCE}/v1, because {reason}{rewrite}"
