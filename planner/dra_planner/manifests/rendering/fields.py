"""Fields of all kinds: metadata, quantities, and selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.model import LabelSelector, NodeSelector, NodeSelectorTerm, ObjectMeta, Requirement
from dra_planner.quantity import Quantity

_BYTES: Final = ("memory", "ephemeral-storage", "storage")
_BINARY: Final = (
    (1 << 60, "Ei"),
    (1 << 50, "Pi"),
    (1 << 40, "Ti"),
    (1 << 30, "Gi"),
    (1 << 20, "Mi"),
    (1 << 10, "Ki"),
)


def compact(**fields: Any) -> dict[str, Any]:
    """Return the fields without empty values, None, and False, but with 0."""
    return {
        name.rstrip("_"): value
        for name, value in fields.items()
        if value is not None and value is not False and value != "" and value != [] and value != {}
    }


def render_quantities(quantities: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: str(quantities[name]) for name in sorted(quantities)}


def render_amounts(amounts: Mapping[str, int]) -> dict[str, str]:
    """Return resource amounts as quantities: cores or thousandths, and binary units for bytes."""
    return {name: _amount(name, amounts[name]) for name in sorted(amounts)}


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount // 1000}" if amount % 1000 == 0 else f"{amount}m"
    if name in _BYTES or name.startswith("hugepages-"):
        for unit, suffix in _BINARY:
            if amount and amount % unit == 0:
                return f"{amount // unit}{suffix}"
    return str(amount)


def render_meta(meta: ObjectMeta) -> dict[str, Any]:
    """Return an object's metadata, without the namespace `default`."""
    return compact(
        name=meta.name,
        namespace="" if meta.namespace == "default" else meta.namespace,
        labels=dict(sorted(meta.labels.items())),
        annotations=dict(sorted(meta.annotations.items())),
        uid=meta.uid,
        creationTimestamp=meta.creation_timestamp,
    )


def render_requirement(requirement: Requirement) -> dict[str, Any]:
    return compact(
        key=requirement.key, operator=requirement.operator, values=list(requirement.values)
    )


def render_label_selector(selector: LabelSelector | None) -> dict[str, Any] | None:
    """Return a label selector, with its leading equalities as `matchLabels`. `{}` matches
    everything.
    """
    if selector is None:
        return None
    labels: dict[str, str] = {}
    rest = list(selector.requirements)
    while (
        rest
        and rest[0].operator == "In"
        and len(rest[0].values) == 1
        and rest[0].key > max(labels, default="")
    ):
        first = rest.pop(0)
        labels[first.key] = first.values[0]
    return compact(matchLabels=labels, matchExpressions=[render_requirement(item) for item in rest])


def render_node_selector(selector: NodeSelector | None) -> dict[str, Any] | None:
    if selector is None:
        return None
    return {"nodeSelectorTerms": [render_node_term(term) for term in selector.terms]}


def render_node_term(term: NodeSelectorTerm) -> dict[str, Any]:
    return compact(
        matchExpressions=[render_requirement(item) for item in term.match_expressions],
        matchFields=[render_requirement(item) for item in term.match_fields],
    )
