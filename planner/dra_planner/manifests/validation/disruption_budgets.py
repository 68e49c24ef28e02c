"""Rules of PodDisruptionBudgets.

Source: kubernetes/kubernetes:pkg/apis/policy/validation/validation.go and pkg/apis/apps/validation/validation.go
(ValidatePositiveIntOrPercent, IsNotMoreThan100Percent) @v1.36.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dra_planner.manifests.validation.metadata import check_labels
from dra_planner.manifests.validation.node_selectors import check_expression
from dra_planner.manifests.validation.violations import Violations, invalid, not_supported

Data = Mapping[str, Any]
_PERCENT: Final = re.compile(r"[0-9]+%", re.ASCII)
_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")


def check_disruption_budget(data: Data) -> Violations:
    """At most one of two limits, each a count or a percentage; a selector of labels; a policy that is known."""
    spec = data.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield invalid("spec", dict(spec), "minAvailable and maxUnavailable cannot be both set")
    for name in ("minAvailable", "maxUnavailable"):
        yield from _check_limit(spec.get(name), f"spec.{name}")
    selector = spec.get("selector") or {}
    yield from check_labels(selector.get("matchLabels") or {}, "spec.selector.matchLabels")
    for number, item in enumerate(selector.get("matchExpressions") or ()):
        yield from check_expression(item or {}, f"spec.selector.matchExpressions[{number}]", compares=False)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES)


def _check_limit(value: Any, path: str) -> Violations:
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            detail = "a valid percent string must be a numeric string followed by an ending '%'"
            yield invalid(path, value, f"{detail} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')")
        elif len(number := value[:-1].lstrip("0")) > 3 or int(number or 0) > 100:
            yield invalid(path, value, "must not be greater than 100%")
    elif value is not None and value < 0:
        yield invalid(path, int(value), "must be greater than or equal to 0")
