"""Rules of namespaces, priority classes, and resource quotas.

Source: kubernetes/kubernetes:pkg/apis/{core,scheduling}/validation/validation.go@v1.36.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_pod_amount, parse_quantity
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.manifests.validation.fields.formats import (
    dns_label,
    is_native_resource,
    qualified_name,
)
from dra_planner.manifests.validation.fields.metadata import check_labels
from dra_planner.manifests.validation.pod_security import POD_SECURITY
from dra_planner.manifests.validation.pods.node_selectors import check_toleration
from dra_planner.manifests.validation.pods.resources import (
    QUOTA_RESOURCES,
    check_amount_value,
    check_container_resource_name,
    check_resource_name,
    check_resources,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    each_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

Data = Mapping[str, Any]
_MOST_MILLI: Final = (2**63 - 1) // 1000
# in earlier versions, an empty handler is reported as a format error
_HANDLER_REQUIRED_SINCE: Final = 36
# up to this version, the path of a RuntimeClass's toleration contains "tolerations" twice
_TOLERATIONS_TWICE_UNTIL: Final = 34
HIGHEST_USER_PRIORITY: Final = 1_000_000_000
_VERSION: Final = re.compile(r"latest|v1\.(?:0|[1-9][0-9]*)", re.ASCII)
_LEVELS: Final = ("privileged", "baseline", "restricted")
_SCOPES: Final = frozenset(
    {
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    }
)
_POD_RESOURCES: Final = frozenset(
    {
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
    }
)
_CONFLICTS: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_POLICIES: Final = ("PreemptLowerPriority", "Never")
_LIMIT_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_LIMIT_FIELDS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def check_namespace(data: Data) -> Violations:
    for name in (data.get("spec") or {}).get("finalizers") or ():
        faults = qualified_name(name or "")
        yield from each_invalid("spec.finalizers", name, faults)
        if "/" not in (name or "") and name not in _FINALIZERS:
            detail = "must be a standard finalizer name or fully qualified"
            yield invalid("spec.finalizers", name, detail)


def check_pod_security_labels(data: Data) -> Violations:
    """Yield the errors of admission in the labels of a namespace, after all other errors."""
    labels = (data.get("metadata") or {}).get("labels") or {}
    for mode in ("enforce", "audit", "warn"):
        level = labels.get(POD_SECURITY + mode)
        if level is not None and level not in _LEVELS:
            detail = f"must be one of {', '.join(_LEVELS)}"
            yield invalid(f"metadata.labels[{POD_SECURITY}{mode}]", level, detail)
        version = labels.get(f"{POD_SECURITY}{mode}-version")
        if version is not None and not _VERSION.fullmatch(version):
            yield invalid(
                f"metadata.labels[{POD_SECURITY}{mode}-version]",
                version,
                'must be "latest" or "v1.x"',
            )


def check_priority_class(data: Data) -> Violations:
    name, value = (data.get("metadata") or {}).get("name") or "", int(data.get("value") or 0)
    if name.startswith("system-"):
        if SYSTEM_PRIORITIES.get(name) != value:
            detail = "priority class names with 'system-' prefix are reserved for system use only"
            yield forbidden(
                "metadata.name", f"{detail}. error: {name} is not a known system priority class"
            )
    elif value > HIGHEST_USER_PRIORITY:
        yield forbidden(
            "value", f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        )
    policy = data.get("preemptionPolicy")
    if policy == "":
        yield required("preemptionPolicy")
    elif policy is not None and policy not in _POLICIES:
        yield not_supported("preemptionPolicy", policy, _POLICIES)


def check_quota(data: Data) -> Violations:
    spec = data.get("spec") or {}
    hard = spec.get("hard") or {}
    for name, value in hard.items():
        path = f"spec.hard[{name}]"
        yield from check_resource_name(name, path)
        if "/" not in name and not _is_quota_resource(name):
            yield invalid(path, name, "must be a standard resource for quota")
        yield from check_amount_value(name, parse_quantity(value or 0), path)
    yield from _check_scopes(
        [scope or "" for scope in spec.get("scopes") or ()], hard, "spec.scopes"
    )
    path = "spec.scopeSelector.matchExpressions"
    expressions = [
        item or {} for item in (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    ]
    for expression in expressions:
        scope, operator, values = (
            expression.get(name) or "" for name in ("scopeName", "operator", "values")
        )
        if scope not in _SCOPES:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope")
        if any(_is_quota_resource(name) and not _is_scoped(scope, name) for name in hard):
            yield invalid(path, None, "unsupported scope applied to resource")
        if scope in _SCOPES - {"PriorityClass", "VolumeAttributesClass"} and operator != "Exists":
            yield invalid(f"{path}.operator", operator, "must be 'Exists' for this scope")
        yield from _check_operator(operator, values, path)
    if any({item.get("scopeName") for item in expressions} >= pair for pair in _CONFLICTS):
        yield invalid("spec.scopeSelector.matchExpressions", None, "conflicting scopes")


def _check_operator(operator: str, values: Any, path: str) -> Violations:
    if operator in ("In", "NotIn"):
        if not values:
            detail = (
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
            yield required(f"{path}.values", detail)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = (
                "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector"
            )
            yield invalid(f"{path}.values", list(values), detail)
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")


def _check_scopes(scopes: list[str], hard: Data, path: str) -> Violations:
    if any(scope not in _SCOPES for scope in scopes):
        yield invalid(path, scopes, "unsupported scope")
    if any(
        _is_quota_resource(name) and not _is_scoped(scope, name)
        for scope in scopes
        for name in hard
    ):
        yield invalid(path, scopes, "unsupported scope applied to resource")
    if any(set(scopes) >= pair for pair in _CONFLICTS):
        yield invalid(path, scopes, "conflicting scopes")


def _is_scoped(scope: str, resource: str) -> bool:
    """Return True if a scope can restrict the counted objects of a resource. Source:
    kubernetes/kubernetes:pkg/apis/core/helper/helpers.go@v1.36.3
    (IsResourceQuotaScopeValidForResource).
    """
    if scope == "BestEffort":
        return resource == "pods"
    if scope == "VolumeAttributesClass":
        return resource in ("persistentvolumeclaims", "requests.storage")
    if scope in _SCOPES:
        return resource in _POD_RESOURCES
    return True


def check_limit_range(data: Data) -> Violations:
    kinds: set[str] = set()
    for index, item in enumerate((data.get("spec") or {}).get("limits") or ()):
        path, item = f"spec.limits[{index}]", item or {}
        kind = item.get("type") or ""
        faults = qualified_name(kind)
        yield from each_invalid(f"{path}.type", kind, faults)
        if not faults and "/" not in kind and kind not in _LIMIT_TYPES:
            yield invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified")
        if kind in kinds:
            yield duplicate(f"{path}.type", kind)
        kinds.add(kind)
        yield from _check_limits(item, kind, path)


def _check_limits(item: Data, kind: str, path: str) -> Violations:
    for field in ("default", "defaultRequest") if kind == "Pod" else ():
        if item.get(field):
            yield forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
    if kind == "PersistentVolumeClaim" and not any(
        "storage" in (item.get(field) or {}) for field in ("min", "max")
    ):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", detail)
    amounts = {
        field: {
            name: parse_pod_amount(value or 0) for name, value in (item.get(field) or {}).items()
        }
        for field in _LIMIT_FIELDS
        if not (kind == "Pod" and field in ("default", "defaultRequest"))
    }
    if kind == "Container":
        _fill_limits(amounts)
    check = check_container_resource_name if kind in ("Pod", "Container") else check_resource_name
    for field, values in amounts.items():
        for name in values:
            yield from check(name, f"{path}.{field}[{name}]")
    for name in sorted({name for values in amounts.values() for name in values}):
        yield from _check_order(
            name, {field: values.get(name) for field, values in amounts.items()}, path
        )


def _fill_limits(amounts: dict[str, dict[str, Quantity]]) -> None:
    """Fill in the server's defaults for containers: limits from maximums, and requests from limits
    and minimums.
    """
    amounts["default"] = {**amounts["max"], **amounts["default"]}
    amounts["defaultRequest"] = {
        **amounts["min"],
        **amounts["default"],
        **amounts["defaultRequest"],
    }


def _check_order(name: str, amounts: Mapping[str, Quantity | None], path: str) -> Violations:
    least, most, ratio = amounts["min"], amounts["max"], amounts["maxLimitRequestRatio"]
    limit, request = amounts.get("default"), amounts.get("defaultRequest")
    ordered = (
        ("min", least, most), ("defaultRequest", least, request), ("defaultRequest", request, most),
        ("defaultRequest", request, limit), ("default", least, limit), ("default", limit, most),
    )  # fmt: skip
    for field, low, high in ordered:
        if low is not None and high is not None and low > high:
            yield invalid(
                f"{path}.{field}[{name}]", str(low), f"value {low} is greater than {high}"
            )
    if ratio is not None:
        where = f"{path}.maxLimitRequestRatio[{name}]"
        if ratio < Quantity.from_int(1):
            yield invalid(where, str(ratio), f"ratio {ratio} is less than 1")
        if least is not None and most is not None and _exceeds(ratio, least, most):
            yield invalid(where, str(ratio), f"ratio {ratio} is greater than max/min")
    overcommits = is_native_resource(name) and not name.startswith("hugepages-")
    if not overcommits and limit is not None and request is not None and limit != request:
        yield invalid(
            f"{path}.defaultRequest[{name}]",
            str(request),
            f"default value {limit} must equal to it in {name}",
        )


def _exceeds(ratio: Quantity, least: Quantity, most: Quantity) -> bool:
    """Compare ratios as the server does, including Go's results for divisions by zero and for
    amounts too large for thousandths.
    """
    small = all(each.value < _MOST_MILLI for each in (ratio, least, most))
    low, high = (least.milli_value, most.milli_value) if small else (least.value, most.value)
    if not low:
        return high < 0
    return (ratio.milli_value / 1000 if small else float(ratio.value)) > high / low


def check_runtime_class(data: Data, features: Features) -> Violations:
    handler = data.get("handler") or ""
    if not handler and features.minor >= _HANDLER_REQUIRED_SINCE:
        yield required("handler")
    else:
        yield from each_invalid("handler", handler, dns_label(handler))
    overhead = (data.get("overhead") or {}).get("podFixed")
    if overhead:
        yield from check_resources({"limits": overhead}, "overhead", ())
    scheduling = data.get("scheduling") or {}
    yield from check_labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    seen: set[tuple[str, ...]] = set()
    for index, item in enumerate(scheduling.get("tolerations") or ()):
        path, item = f"scheduling.tolerations[{index}]", item or {}
        twice = features.minor <= _TOLERATIONS_TWICE_UNTIL
        yield from check_toleration(
            item, f"scheduling.tolerations.tolerations[{index}]" if twice else path
        )
        key = tuple(item.get(name) or "" for name in ("key", "operator", "value", "effect"))
        if key in seen:
            yield duplicate(path, dict(item))
        seen.add(key)


def _is_quota_resource(name: str) -> bool:
    return name in QUOTA_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


CLUSTER_RULES: Final[Mapping[str, Callable[[Data], Violations]]] = {
    "Namespace": check_namespace,
    "PriorityClass": check_priority_class,
    "ResourceQuota": check_quota,
    "LimitRange": check_limit_range,
}
"""Rules of each kind."""
