"""Rules of pods and pod templates, as far as they decide about claims and devices.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3 (ValidatePodSpec and what it calls).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from dra_planner.manifests.validation.container_resources import check_resources
from dra_planner.manifests.validation.metadata import check_annotations, check_labels
from dra_planner.manifests.validation.names import check_label, check_subdomain
from dra_planner.manifests.validation.node_selectors import check_node_selector, check_preferences, check_toleration
from dra_planner.manifests.validation.quotas import amounts_of, pod_amounts
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

Data = Mapping[str, Any]
_POLICIES: Final = ("Always", "OnFailure", "Never")


def check_pod(data: Data) -> Violations:
    spec = data.get("spec") or {}
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    yield from check_pod_spec(spec, "spec", with_requests=True)
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            image = (container or {}).get("image") or ""
            if image != image.strip():
                detail = "must not have leading or trailing whitespace"
                yield invalid(f"spec.{field}[{index}].image", image, detail)


def check_pod_template(data: Data, path: str, *, is_whole: bool = True) -> Violations:
    meta = data.get("metadata") or {}
    yield from check_labels(meta.get("labels") or {}, f"{path}.metadata.labels")
    yield from check_annotations(meta.get("annotations") or {}, f"{path}.metadata.annotations")
    spec = data.get("spec") or {}
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        yield forbidden(f"{path}.spec.ephemeralContainers", detail)
    yield from check_pod_spec(spec, f"{path}.spec", is_whole=is_whole)


def check_pod_spec(spec: Data, path: str, *, with_requests: bool = False, is_whole: bool = True) -> Violations:
    """`with_requests`: limits stand in for requests, as in pods; templates are defaulted later.

    `is_whole`: there are containers, and each names its image; controllers of other kinds may fill in what is left out.
    """
    entries = spec.get("resourceClaims") or ()
    claims = {name for entry in entries if (name := (entry or {}).get("name"))}
    yield from _check_entries(entries, f"{path}.resourceClaims")
    if is_whole and not spec.get("containers"):
        yield required(f"{path}.containers")
    names: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            where = f"{path}.{field}[{index}]"
            yield from _check_container(container or {}, where, names)
            if is_whole and not (container or {}).get("image"):
                yield required(f"{where}.image")
            resources = (container or {}).get("resources") or {}
            if with_requests and resources.get("limits"):
                resources = {**resources, "requests": {**resources["limits"], **(resources.get("requests") or {})}}
            yield from check_resources(resources, f"{where}.resources", claims)
    if spec.get("resources") is not None:
        yield from _check_whole(spec, spec["resources"], f"{path}.resources", claims)
    if spec.get("priorityClassName"):
        yield from check_subdomain(spec["priorityClassName"], f"{path}.priorityClassName")
    policy = spec.get("restartPolicy")
    if policy and policy not in _POLICIES:
        yield not_supported(f"{path}.restartPolicy", policy, _POLICIES)
    yield from check_labels(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        yield from check_toleration(toleration or {}, f"{path}.tolerations[{index}]")
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    selector = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    where = f"{path}.affinity.nodeAffinity"
    if selector is not None:
        yield from check_node_selector(selector, f"{where}.requiredDuringSchedulingIgnoredDuringExecution")
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    yield from check_preferences(affinity.get(preferred) or (), f"{where}.{preferred}")


def _check_whole(spec: Data, resources: Data, path: str, claims: Collection[str]) -> Violations:
    """The amounts of the pod as a whole: its containers together ask for no more, none has a higher limit."""
    if resources.get("claims") is not None:
        yield forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    yield from check_resources(resources, path, claims, of_pod=True)
    requests, limits = (amounts_of(resources.get(field)) for field in ("requests", "limits"))
    for name, together in pod_amounts(spec, "requests").items():
        if name in requests and together > requests[name]:
            detail = f"must be greater than or equal to aggregate container requests of {together}"
            yield invalid(f"{path}.requests[{name}]", str(requests[name]), detail)
    for index, container in enumerate(spec.get("containers") or ()):
        for name, limit in amounts_of(((container or {}).get("resources") or {}).get("limits")).items():
            if name in limits and limit > limits[name]:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{path}.containers[{index}][{name}].limits", str(limit), detail)


def _check_container(data: Data, path: str, names: set[str]) -> Violations:
    name = data.get("name") or ""
    if not name:
        yield required(f"{path}.name")
    else:
        yield from check_label(name, f"{path}.name")
    if name in names:
        yield duplicate(f"{path}.name", name)
    names.add(name)


def _check_entries(entries: Sequence[Any], path: str) -> Violations:
    names: set[str] = set()
    for index, entry in enumerate(entries):
        entry, where = entry or {}, f"{path}[{index}]"
        name = entry.get("name") or ""
        claim, template = entry.get("resourceClaimName"), entry.get("resourceClaimTemplateName")
        if not name:
            yield required(f"{where}.name")
        elif name in names:
            yield duplicate(f"{where}.name", name)
        else:
            yield from check_label(name, f"{where}.name")
            names.add(name)
        shown = {"Name": name, "ResourceClaimName": claim, "ResourceClaimTemplateName": template}
        if claim is not None and template is not None:
            detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(where, shown, detail)
        if claim is None and template is None:
            yield invalid(where, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        if claim is not None:
            yield from check_subdomain(claim, f"{where}.resourceClaimName")
        if template is not None:
            yield from check_subdomain(template, f"{where}.resourceClaimTemplateName")
