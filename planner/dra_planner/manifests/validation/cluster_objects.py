"""Rules of namespaces, priority classes and resource quotas.

Source: kubernetes/kubernetes:pkg/apis/{core,scheduling}/validation/validation.go@v1.36.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.manifests.validation.container_resources import (
    QUOTA_RESOURCES,
    check_amount_value,
    check_resource_name,
)
from dra_planner.manifests.validation.pod_security import POD_SECURITY
from dra_planner.manifests.validation.violations import Violations, forbidden, invalid, required

Data = Mapping[str, Any]
HIGHEST_USER_PRIORITY: Final = 1_000_000_000
_VERSION: Final = re.compile(r"latest|v1\.(?:0|[1-9][0-9]*)", re.ASCII)
_LEVELS: Final = ("privileged", "baseline", "restricted")
_SCOPES: Final = frozenset({
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
})  # fmt: skip


def check_namespace(data: Data) -> Violations:
    labels = (data.get("metadata") or {}).get("labels") or {}
    for mode in ("enforce", "audit", "warn"):
        level = labels.get(POD_SECURITY + mode)
        if level is not None and level not in _LEVELS:
            detail = f"must be one of {', '.join(_LEVELS)}"
            yield invalid(f"metadata.labels[{POD_SECURITY}{mode}]", level, detail)
        version = labels.get(f"{POD_SECURITY}{mode}-version")
        if version is not None and not _VERSION.fullmatch(version):
            yield invalid(f"metadata.labels[{POD_SECURITY}{mode}-version]", version, 'must be "latest" or "v1.x"')


def check_priority_class(data: Data) -> Violations:
    name, value = (data.get("metadata") or {}).get("name") or "", int(data.get("value") or 0)
    if name.startswith("system-"):
        if SYSTEM_PRIORITIES.get(name) != value:
            detail = "priority class names with 'system-' prefix are reserved for system use only"
            yield forbidden("metadata.name", f"{detail}. error: {name} is not a known system priority class")
    elif value > HIGHEST_USER_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}")


def check_quota(data: Data) -> Violations:
    spec = data.get("spec") or {}
    for name, value in (spec.get("hard") or {}).items():
        path = f"spec.hard[{name}]"
        yield from check_resource_name(name, path)
        if "/" not in name and not _is_quota_resource(name):
            yield invalid(path, name, "must be a standard resource for quota")
        yield from check_amount_value(name, parse_quantity(value or 0), path)
    scopes = spec.get("scopes") or ()
    if any(scope not in _SCOPES for scope in scopes):
        yield invalid("spec.scopes", list(scopes), "unsupported scope")
    path = "spec.scopeSelector.matchExpressions"
    for expression in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        scope, operator, values = (expression or {}).get("scopeName"), (expression or {}).get("operator"), None
        values = (expression or {}).get("values") or ()
        if scope not in _SCOPES:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope")
        if operator in ("In", "NotIn"):
            if not values:
                yield required(
                    f"{path}.values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                )
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector"
                yield invalid(f"{path}.values", list(values), detail)
        else:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")


def _is_quota_resource(name: str) -> bool:
    return name in QUOTA_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


CLUSTER_RULES: Final[Mapping[str, Callable[[Data], Violations]]] = {
    "Namespace": check_namespace,
    "PriorityClass": check_priority_class,
    "ResourceQuota": check_quota,
}
"""By kind."""
