"""Rules of a container's `resources`: names, amounts, and claims.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3
(ValidateContainerResourceRequirements).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_pod_amount, parse_quantity
from dra_planner.manifests.validation.fields.formats import (
    is_extended_resource,
    is_native_resource,
    qualified_name,
)
from dra_planner.manifests.validation.fields.names import check_label
from dra_planner.manifests.validation.quotas import amounts_of, pod_amounts, pod_level_requests
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
from dra_planner.quantity import Quantity, QuantityError

Data = Mapping[str, Any]
_CONTAINER_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
QUOTA_RESOURCES: Final = _CONTAINER_RESOURCES | {
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
}
_STANDARD_RESOURCES: Final = QUOTA_RESOURCES | {"storage"}
_POD_RESOURCES: Final = ("cpu", "memory")
_HUGE_PAGES: Final = "hugepages-"
_COUNTED: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    }
)


def check_resources(
    data: Data, path: str, claims: Collection[str], *, of_pod: bool = False
) -> Violations:
    """Check resources. `claims` are the names in the pod's `spec.resourceClaims`.

    With `of_pod`, the resources are the pod-level amounts.
    """
    limits, requests = data.get("limits") or {}, data.get("requests") or {}
    named = {*limits, *requests}
    if any(map(is_huge_page, named)) and named.isdisjoint(("cpu", "memory")):
        yield forbidden(path, "HugePages require cpu or memory")
    for name, value in limits.items():
        yield from _check_amount(
            name, parse_pod_amount(value or 0), f"{path}.limits[{name}]", of_pod
        )
    for name, value in requests.items():
        amount = parse_pod_amount(value or 0)
        yield from _check_amount(name, amount, f"{path}.requests[{name}]", of_pod)
        overcommits = is_native_resource(name) and not is_huge_page(name)
        if name not in limits:
            if not overcommits:
                yield required(
                    f"{path}.limits", "Limit must be set for non overcommitable resources"
                )
            continue
        limit = parse_pod_amount(limits[name] or 0)
        if amount != limit and not overcommits:
            yield invalid(
                f"{path}.requests", str(amount), f"must be equal to {name} limit of {limit}"
            )
        elif amount > limit:
            yield invalid(
                f"{path}.requests",
                str(amount),
                f"must be less than or equal to {name} limit of {limit}",
            )
    yield from _check_claims(data.get("claims") or (), f"{path}.claims", claims)


def check_pod_resources(
    spec: Data, path: str, claims: Collection[str], *, is_pod: bool
) -> Violations:
    """Check pod-level amounts: the sum of the containers' requests must not exceed them, and no
    container can have a higher limit. The server fills in requests of pods, not of templates.
    """
    resources = spec.get("resources") or {}
    if is_pod and resources.get("limits"):
        resources = {**resources, "requests": pod_level_requests(spec)}
    if resources.get("claims") is not None:
        yield forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    yield from check_resources(resources, path, claims, of_pod=True)
    requests, limits = (amounts_of(resources.get(field)) for field in ("requests", "limits"))
    for name, together in pod_amounts(spec, "requests").items():
        if name in requests and together > requests[name]:
            detail = f"must be greater than or equal to aggregate container requests of {together}"
            yield invalid(f"{path}.requests[{name}]", str(requests[name]), detail)
    for index, container in enumerate(spec.get("containers") or ()):
        for name, limit in amounts_of(
            ((container or {}).get("resources") or {}).get("limits")
        ).items():
            if name in limits and limit > limits[name]:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{path}.containers[{index}][{name}].limits", str(limit), detail)


def is_huge_page(name: str) -> bool:
    return name.startswith(_HUGE_PAGES)


def check_resource_name(name: str, path: str) -> Violations:
    faults = qualified_name(name)
    yield from each_invalid(path, name, faults)
    if not faults and "/" not in name and not _is_standard(name):
        yield invalid(path, name, "must be a standard resource type or fully qualified")


def check_container_resource_name(name: str, path: str) -> Violations:
    """Yield the errors in the name of a container resource."""
    yield from check_resource_name(name, path)
    yield from _check_kind_of_resource(name, path)


def _check_kind_of_resource(name: str, path: str) -> Violations:
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not is_huge_page(name):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not is_native_resource(name) and not is_extended_resource(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def check_amount_value(name: str, amount: Quantity, path: str) -> Violations:
    if amount.sign < 0:
        yield invalid(path, str(amount), "must be greater than or equal to 0")
    if (name in _COUNTED or is_extended_resource(name)) and amount.milli_value % 1000:
        yield invalid(path, str(amount), "must be an integer")


def _is_standard(name: str) -> bool:
    return name in _STANDARD_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


def _check_amount(name: str, amount: Quantity, path: str, of_pod: bool) -> Violations:
    wrong = list(check_resource_name(name, path))
    yield from wrong
    if of_pod:
        if not wrong and name not in _POD_RESOURCES and not is_huge_page(name):
            yield not_supported(path, name, (*_POD_RESOURCES, _HUGE_PAGES))
    else:
        yield from _check_kind_of_resource(name, path)
    yield from check_amount_value(name, amount, path)
    if is_huge_page(name) and not _is_whole_pages(name.removeprefix(_HUGE_PAGES), amount):
        yield invalid(path, str(amount), f"{amount} is not positive integer multiple of {name}")


def _is_whole_pages(size: str, amount: Quantity) -> bool:
    try:
        page = parse_quantity(size)
    except QuantityError:
        return False
    return page.sign > 0 and page.milli_value % 1000 == 0 and amount.value % page.value == 0


def _check_claims(entries: Any, path: str, claims: Collection[str]) -> Violations:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        where = f"{path}[{index}]"
        name, request = (entry or {}).get("name") or "", (entry or {}).get("request") or ""
        if not name:
            yield required(where)
            continue
        if name in seen:
            yield duplicate(where, name)
        else:
            if request:
                yield from check_label(request, f"{where}.request")
            key = f"{name}/{request}" if request else name
            if key in seen:
                yield duplicate(where, key)
            elif not request:
                for other in sorted(seen):
                    if other.partition("/")[0] == name:
                        yield duplicate(where, name)
            seen.add(key)
        if name not in claims:
            known = f": {', '.join(sorted(claims))}" if claims else " which is empty"
            yield not_found(
                where, name, f"must be one of the names in pod.spec.resourceClaims{known}"
            )
