"""Rules of pods and pod templates as a whole, and the entry point to all other rules of this
folder.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.manifests.validation.checks import (
    always_formatted,
    choice,
    formatted,
    labels,
    pointed_format,
    pointed_needed_choice,
)
from dra_planner.manifests.validation.fields.formats import dns_label, dns_subdomain, qualified_name
from dra_planner.manifests.validation.fields.metadata import check_annotations, check_labels
from dra_planner.manifests.validation.fields.selectors import SELECTORS
from dra_planner.manifests.validation.pods.annotations import (
    check_pod_annotations,
    check_profiles_match,
)
from dra_planner.manifests.validation.pods.containers import (
    CONTAINERS,
    check_containers,
    check_ephemeral_containers,
    check_image_of_pod,
    check_init_containers,
)
from dra_planner.manifests.validation.pods.environment import ENVIRONMENT
from dra_planner.manifests.validation.pods.gates import without_disabled
from dra_planner.manifests.validation.pods.network import (
    NETWORK,
    check_host_name,
    check_host_ports,
    check_name_service,
)
from dra_planner.manifests.validation.pods.node_selectors import check_toleration
from dra_planner.manifests.validation.pods.placement import PLACEMENT, check_spreading
from dra_planner.manifests.validation.pods.probes import PROBES
from dra_planner.manifests.validation.pods.projections import PROJECTIONS
from dra_planner.manifests.validation.pods.resources import check_pod_resources, check_resources
from dra_planner.manifests.validation.pods.security import (
    SECURITY,
    check_host_namespaces,
    check_host_processes,
    check_os,
    containers_of,
)
from dra_planner.manifests.validation.pods.volume_claims import VOLUME_CLAIMS
from dra_planner.manifests.validation.pods.volumes import VOLUMES, check_volumes
from dra_planner.manifests.validation.rules import (
    Data,
    PodFacts,
    Scope,
    StructRules,
    Table,
    check_struct,
    each,
    join,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    each_invalid,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from dra_planner.releases import Features

_OPERATING_SYSTEMS: Final = ("linux", "windows")
_MOST_SECONDS: Final = 2**31 - 1


def check_pod(data: Data, features: Features) -> Violations:
    """Yield the server's errors for a new Pod."""
    metadata, spec = data.get("metadata") or {}, data.get("spec") or {}
    spec = without_disabled(spec, "core.PodSpec", features.minor)
    facts = PodFacts(
        is_pod=True,
        spec=spec,
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        name=metadata.get("name") or "",
    )
    scope = Scope(features=features, pod=facts)
    yield from check_pod_annotations(facts.annotations, "metadata.annotations", scope)
    yield from _check_spec(spec, "spec", scope)
    yield from check_profiles_match(spec, "spec", scope)
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden(
            "spec.nodeName", "cannot be set until all schedulingGates have been cleared"
        )
    for field in ("containers", "initContainers"):
        for item, where in each(spec.get(field), f"spec.{field}"):
            yield from check_image_of_pod(item, where)
    if not (spec.get("serviceAccountName") or spec.get("serviceAccount")):
        yield from _check_tokens(spec)


def _check_tokens(spec: Data) -> Violations:
    """Check the service account token. It needs an account, which admission fills in if it's
    enabled.
    """
    for volume, where in each(spec.get("volumes"), "spec.volumes"):
        for source, there in each(
            (volume.get("projected") or {}).get("sources"), f"{where}.projected.sources"
        ):
            if source.get("serviceAccountToken") is not None:
                yield forbidden(
                    f"{there}.serviceAccountToken",
                    "must not be specified when serviceAccountName is not set",
                )


def check_pod_template(
    data: Data,
    path: str,
    features: Features,
    *,
    is_whole: bool = True,
    of_stateful_set: Data | None = None,
) -> Violations:
    """Yield the server's errors for a pod template.

    With `is_whole`, the template must have containers, and each must set its image. Controllers of
    other kinds might fill in missing parts. `of_stateful_set` is the spec of the StatefulSet, which
    adds volumes and sets the names of the pods.
    """
    meta = data.get("metadata") or {}
    yield from check_labels(meta.get("labels") or {}, f"{path}.labels")
    yield from check_annotations(meta.get("annotations") or {}, f"{path}.annotations")
    spec = without_disabled(data.get("spec") or {}, "core.PodSpec", features.minor)
    if of_stateful_set is not None:
        spec = _of_stateful_set(spec, of_stateful_set)
    facts = PodFacts(
        is_whole=is_whole,
        spec=spec,
        labels=meta.get("labels") or {},
        annotations=meta.get("annotations") or {},
    )
    scope = Scope(features=features, pod=facts)
    yield from check_pod_annotations(facts.annotations, f"{path}.annotations", scope)
    yield from _check_spec(spec, f"{path}.spec", scope)
    yield from check_profiles_match(spec, f"{path}.spec", scope)
    if spec.get("ephemeralContainers"):
        yield forbidden(
            f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template"
        )


def check_pods_of_others(data: Data, path: str, features: Features, *, inline: bool) -> Violations:
    """Yield the server's errors for the pods of an unknown controller, regardless of what it adds.

    `inline` means a pod spec without a template. The controller might add missing containers,
    volumes, and ports, so only claims and amounts must be complete.
    """
    if inline:
        spec = without_disabled(data, "core.PodSpec", features.minor)
        found = _check_spec(
            spec, path, Scope(features=features, pod=PodFacts(is_whole=False, spec=spec))
        )
    else:
        found = check_pod_template(data, path, features, is_whole=False)
    for violation in found:
        is_filled_in = violation.reason in _FILLED_IN and not _COMPLETE.search(violation.field)
        if not is_filled_in and not _HANDLED_PORT.search(violation.field):
            yield violation


_FILLED_IN: Final = frozenset({"FieldValueRequired", "FieldValueNotFound"})
# Knative uses 0 for the port of its container
_HANDLED_PORT: Final = re.compile(r"\.(httpGet|tcpSocket|grpc)\.port$")
_COMPLETE: Final = re.compile(r"\.(resourceClaims|resources)\b")


def _of_stateful_set(spec: Data, around: Data) -> Data:
    """Return the pods of a StatefulSet. Its volume claims are volumes, and it sets the names of the
    pods.
    """
    claims = [
        ((item or {}).get("metadata") or {}).get("name") or ""
        for item in around.get("volumeClaimTemplates") or ()
    ]
    made = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}}
        for name in dict.fromkeys(claims)
    ]
    kept = [
        item for item in spec.get("volumes") or () if ((item or {}).get("name") or "") not in claims
    ]
    plain = {
        key: value for key, value in spec.items() if key not in ("hostname", "subdomain", "volumes")
    }
    return {**plain, "volumes": [*made, *kept]} if made or kept else plain


def _check_spec(spec: Data, path: str, scope: Scope) -> Violations:
    faults, volumes = check_volumes(spec.get("volumes"), join(path, "volumes"), scope, TABLE)
    yield from faults
    entries = spec.get("resourceClaims") or ()
    claims = frozenset(name for entry in entries if (name := (entry or {}).get("name")))
    scope = replace(scope, pod=replace(scope.pod, volumes=volumes, claims=claims))
    yield from _check_claims(entries, join(path, "resourceClaims"))
    yield from check_containers(spec, path, scope, TABLE)
    yield from check_init_containers(spec, path, scope, TABLE)
    yield from check_ephemeral_containers(spec, path, scope, TABLE)
    yield from check_struct(spec, "core.PodSpec", path, scope, TABLE)


def _check_claims(entries: Any, path: str) -> Violations:
    names: set[str] = set()
    for entry, where in each(entries, path):
        name = entry.get("name") or ""
        claim, template = entry.get("resourceClaimName"), entry.get("resourceClaimTemplateName")
        if not name:
            yield required(f"{where}.name")
        elif name in names:
            yield duplicate(f"{where}.name", name)
        else:
            yield from each_invalid(f"{where}.name", name, dns_label(name))
            names.add(name)
        shown = {"Name": name, "ResourceClaimName": claim, "ResourceClaimTemplateName": template}
        if claim is not None and template is not None:
            detail = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            )
            yield invalid(where, shown, detail)
        if claim is None and template is None:
            yield invalid(
                where,
                shown,
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            )
        for field, value in (("resourceClaimName", claim), ("resourceClaimTemplateName", template)):
            if value is not None:
                yield from each_invalid(f"{where}.{field}", value, dns_subdomain(value))


def _check_amounts(spec: Data, path: str, scope: Scope) -> Violations:
    path = join(path, "resources")
    if spec.get("resources") is not None:
        if scope.pod.os_name == "windows":
            yield forbidden(path, "may not be set for a windows pod")
        else:
            is_pod = scope.pod.is_pod
            yield from check_pod_resources(spec, path, scope.pod.claims, is_pod=is_pod)


def _check_overhead(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None:
        yield from check_resources({"limits": value}, path, ())


def _check_tolerations(value: Any, path: str, scope: Scope) -> Violations:
    for item, where in each(value, path):
        yield from check_toleration(item, where)


def _check_gates(value: Any, path: str, scope: Scope) -> Violations:
    names: set[str] = set()
    for item, where in each(value, path):
        name = item.get("name") or ""
        yield from each_invalid(where, name, qualified_name(name))
        if name in names:
            yield duplicate(where, name)
        names.add(name)


def _check_deadline(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None and not 1 <= value <= _MOST_SECONDS:
        yield invalid(path, int(value), f"must be between 1 and {_MOST_SECONDS}, inclusive")


def _check_os_name(value: Any, path: str, scope: Scope) -> Violations:
    name = scope.pod.os_name
    if value is not None and not name:
        yield required(f"{path}.name")
    elif value is not None and name not in _OPERATING_SYSTEMS:
        yield not_supported(path, name or "", _OPERATING_SYSTEMS)


def _check_files(spec: Data, path: str, scope: Scope) -> Violations:
    """Check that variables that are read from a file name an emptyDir."""
    volumes = {item.get("name") or "": item for item, _ in each(spec.get("volumes"), "")}
    for container, where in containers_of(spec, path):
        for variable, there in each(container.get("env"), f"{where}.env"):
            reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if reference is None:
                continue
            name, there = (
                reference.get("volumeName") or "",
                f"{there}.valueFrom.fileKeyRef.volumeName",
            )
            if name not in volumes:
                yield not_found(there, name)
            elif not _is_empty_dir(volumes[name]):
                yield invalid(there, name, "referenced volume must be of type emptyDir")


def _is_empty_dir(volume: Data) -> bool:
    return volume.get("emptyDir") is not None or not any(
        value is not None for key, value in volume.items() if key != "name"
    )


def _check_account(spec: Data, path: str, scope: Scope) -> Violations:
    """Check the service account, which the spec can set in two fields."""
    yield from _SUBDOMAIN(
        spec.get("serviceAccountName") or spec.get("serviceAccount"),
        join(path, "serviceAccountName"),
        scope,
    )


def _fields_of_spec(data: Data, scope: Scope) -> Collection[str]:
    """Return the rules for the fields of a pod spec. Containers, volumes, and lists that are
    checked as a whole aren't checked again.
    """
    return (
        "securityContext",
        "affinity",
        "hostAliases",
        "readinessGates",
        "topologySpreadConstraints",
    )


_SUBDOMAIN: Final = formatted(dns_subdomain)
_LABEL: Final = formatted(dns_label)
TABLE: Final[Table] = {
    **CONTAINERS,
    **ENVIRONMENT,
    **NETWORK,
    **PLACEMENT,
    **PROBES,
    **PROJECTIONS,
    **SECURITY,
    **SELECTORS,
    **VOLUMES,
    **VOLUME_CLAIMS,
    "core.PodReadinessGate": StructRules(
        fields={"conditionType": always_formatted(qualified_name)}
    ),
    "core.PodSpec": StructRules(
        fields={
            "restartPolicy": choice("Always", "OnFailure", "Never"),
            "dnsPolicy": choice("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
            "preemptionPolicy": pointed_needed_choice("PreemptLowerPriority", "Never"),
            "nodeSelector": labels,
            "nodeName": _SUBDOMAIN,
            "priorityClassName": _SUBDOMAIN,
            "runtimeClassName": pointed_format(dns_subdomain),
            "hostname": _LABEL,
            "subdomain": _LABEL,
            "activeDeadlineSeconds": _check_deadline,
            "tolerations": _check_tolerations,
            "overhead": _check_overhead,
            "schedulingGates": _check_gates,
            "topologySpreadConstraints": check_spreading,
            "os": _check_os_name,
        },
        whole=(
            _check_amounts,
            check_host_ports,
            check_host_name,
            check_name_service,
            check_host_processes,
            check_host_namespaces,
            check_os,
            _check_files,
            _check_account,
        ),
        into=_fields_of_spec,
    ),
}
"""The rules of all structs in a pod, by struct."""
