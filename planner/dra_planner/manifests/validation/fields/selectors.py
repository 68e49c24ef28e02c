"""Rules of label selectors, and label matching.

Source: kubernetes/apimachinery:pkg/apis/meta/v1/validation/validation.go@v0.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from dra_planner.manifests.validation.checks import labels
from dra_planner.manifests.validation.pods.node_selectors import check_expression
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table
from dra_planner.manifests.validation.violations import Violations


def _check_expression(data: Data, path: str, scope: Scope) -> Violations:
    yield from check_expression(data, path, compares=False)


SELECTORS: Final[Table] = {
    "meta.LabelSelector": StructRules(fields={"matchLabels": labels}),
    "meta.LabelSelectorRequirement": StructRules(whole=(_check_expression,)),
}


def can_select(selector: Data) -> bool:
    """Return True if a selector can be evaluated, even if it has other errors."""
    return not any(_faults_of(selector))


def _faults_of(selector: Data) -> Violations:
    yield from labels(selector.get("matchLabels"), "", _ANYWHERE)
    for item in selector.get("matchExpressions") or ():
        yield from check_expression(item or {}, "", compares=False)


_ANYWHERE: Any = None  # labels have the same format in every scope


def matches(selector: Data, own: Data) -> bool:
    """Return True if labels match a selector. A selector without conditions matches all labels."""
    wanted = selector.get("matchLabels") or {}
    return all(own.get(key) == (value or "") for key, value in wanted.items()) and all(
        _matches(item or {}, own) for item in selector.get("matchExpressions") or ()
    )


def _matches(requirement: Data, own: Data) -> bool:
    key, operator = requirement.get("key") or "", requirement.get("operator")
    values = [value or "" for value in requirement.get("values") or ()]
    if operator == "In":
        return key in own and own[key] in values
    if operator == "NotIn":
        return key not in own or own[key] not in values
    return (key in own) == (operator == "Exists")
