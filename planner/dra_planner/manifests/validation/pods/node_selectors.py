"""Rules of node selectors and tolerations.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3 (ValidateNodeSelector,
ValidatePreferredSchedulingTerms, ValidateTolerations).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dra_planner.manifests.validation.fields.formats import (
    dns_subdomain,
    label_value,
    qualified_name,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)

Data = Mapping[str, Any]
_MOST_WEIGHT: Final = 100
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS: Final = ("Equal", "Exists")


def check_node_selector(data: Data, path: str) -> Violations:
    path = f"{path}.nodeSelectorTerms"
    terms = data.get("nodeSelectorTerms") or ()
    if not terms:
        yield required(path, "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from _check_term(term or {}, f"{path}[{index}]")


def check_preferences(terms: Sequence[Any], path: str) -> Violations:
    """Check the preferred node terms of a pod, with their weights."""
    for index, term in enumerate(terms):
        where, term = f"{path}[{index}]", term or {}
        weight = term.get("weight") or 0
        if not 1 <= weight <= _MOST_WEIGHT:
            yield invalid(f"{where}.weight", weight, f"must be in the range 1-{_MOST_WEIGHT}")
        yield from _check_term(term.get("preference") or {}, f"{where}.preference", any_value=True)


def _check_term(data: Data, path: str, *, any_value: bool = False) -> Violations:
    """Check a node selector term. `any_value` is True for preferences, whose values may be invalid
    label values.
    """
    for number, item in enumerate(data.get("matchExpressions") or ()):
        yield from check_expression(
            item or {}, f"{path}.matchExpressions[{number}]", any_value=any_value
        )
    for number, item in enumerate(data.get("matchFields") or ()):
        yield from _check_field(item or {}, f"{path}.matchFields[{number}]")


def check_expression(
    data: Data, path: str, *, compares: bool = True, any_value: bool = False
) -> Violations:
    """Check one expression over labels. `compares` is True for node selectors, which also have Gt
    and Lt.
    """
    operator, values, key = (
        data.get("operator") or "",
        data.get("values") or (),
        data.get("key") or "",
    )
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(
                f"{path}.values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )
    elif operator in ("Gt", "Lt") and compares:
        if len(values) != 1:
            yield required(
                f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"
            )
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from each_invalid(f"{path}.key", key, qualified_name(key))
    for index, value in enumerate(() if any_value else values):
        yield from each_invalid(f"{path}.values[{index}]", value, label_value(value or ""))


def _check_field(data: Data, path: str) -> Violations:
    operator, values, key = (
        data.get("operator") or "",
        data.get("values") or (),
        data.get("key") or "",
    )
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)
    if key != "metadata.name":
        yield invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from each_invalid(f"{path}.values[{index}]", value, dns_subdomain(value or ""))


def check_toleration(data: Data, path: str) -> Violations:
    """Check one toleration. Tolerations that compare numbers need a feature gate that is off."""
    key, operator, value = (
        data.get("key") or "",
        data.get("operator") or "",
        data.get("value") or "",
    )
    effect = data.get("effect") or ""
    if key:
        yield from each_invalid(f"{path}.key", key, qualified_name(key))
    elif operator != "Exists":
        detail = (
            'operator must be Exists when `key` is empty, which means "match all values and '
            'all keys"'
        )
        yield invalid(f"{path}.operator", operator, detail)
    if data.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(
            f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )
    if operator in ("", "Equal"):
        yield from each_invalid(f"{path}.operator", value, label_value(value))
    elif operator == "Exists":
        if value:
            yield invalid(
                f"{path}.operator", data, "value must be empty when `operator` is 'Exists'"
            )
    else:
        yield not_supported(f"{path}.operator", operator, _OPERATORS)
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS)
