"""PodDisruptionBudgets of a stack: the pods that they select, and whether they allow
disruptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_policies.view.stack_view import DeclaredResource, StackView

_KIND: Final = ":PodDisruptionBudget"
_NONE: Final = (0, "0", "0%")
_ALL: Final = "100%"


def budgets_of(
    view: StackView, namespace: str, labels: Mapping[str, str]
) -> Iterator[tuple[DeclaredResource, bool]]:
    """Yield the budgets that select, or might select, pods with these labels, and whether the
    selection is certain.
    """
    for each in view.objects:
        found = each.props.text("metadata.namespace", "default")
        if not each.type.endswith(_KIND) or found not in (None, namespace):
            continue
        wanted = each.props.mapping("spec.selector.matchLabels")
        if wanted is None or all(
            value is None or labels.get(key) == value for key, value in wanted.items()
        ):
            known = (
                found is not None
                and wanted is not None
                and bool(wanted)
                and None not in wanted.values()
            )
            yield each, known and each.props.has("spec.selector.matchExpressions") is False


def keeps_all(budget: DeclaredResource, pods: int) -> str:
    """Return the setting of a budget that prevents every disruption of this number of pods. "" if
    the budget might allow one.
    """
    most, least = budget.props.at("spec.maxUnavailable"), budget.props.at("spec.minAvailable")
    if not isinstance(most, bool) and most in _NONE:
        return f"maxUnavailable: {most}"
    is_count = isinstance(least, int) and not isinstance(least, bool)
    if least == _ALL or (is_count and least >= pods):
        return f"minAvailable: {least}"
    return ""
