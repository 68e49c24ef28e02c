"""Rules of the tolerations of pods.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3 (ValidateTolerations).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.manifests.validation.formats import label_value, qualified_name
from dra_planner.manifests.validation.violations import Violations, each_invalid, invalid, not_supported

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS: Final = ("Equal", "Exists")


def check_toleration(data: Mapping[str, Any], path: str) -> Violations:
    """One toleration of a pod; those that compare numbers are behind a gate that is off."""
    key, operator, value = data.get("key") or "", data.get("operator") or "", data.get("value") or ""
    effect = data.get("effect") or ""
    if key:
        yield from each_invalid(f"{path}.key", key, qualified_name(key))
    elif operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, detail)
    if data.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("", "Equal"):
        yield from each_invalid(f"{path}.operator", value, label_value(value))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", data, "value must be empty when `operator` is 'Exists'")
    else:
        yield not_supported(f"{path}.operator", operator, _OPERATORS)
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS)
