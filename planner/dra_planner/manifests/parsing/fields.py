"""Fields of all kinds: metadata, quantities, and selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.documents.scalars import number_text
from dra_planner.errors import NOWHERE, Place
from dra_planner.model import (
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    Requirement,
)
from dra_planner.quantity import Quantity

Data = Mapping[str, Any]

# characters that Go's TrimSpace removes around a text, as written in JSON, which escapes tabs and
# line ends
_BLANKS: Final = (
    " \u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
)


def text_of(value: Any) -> str:
    """Return a quantity or label value as text, because YAML reads some of them as numbers."""
    if isinstance(value, float):
        return number_text(value)
    return "" if value is None else str(value)


def parse_quantity(value: Any) -> Quantity:
    """Return a quantity from a text (spaces around it are allowed) or a number. null is zero.
    Raises QuantityError.
    """
    if value is None:
        return Quantity.from_int(0)
    return Quantity.parse(text_of(value).strip(_BLANKS))


def parse_pod_amount(value: Any) -> Quantity:
    """Return an amount of a pod, rounded up to thousandths (away from zero), as the API server
    reads it.
    """
    amount = parse_quantity(value)
    if amount.scale >= -3:
        return amount
    parts = 10 ** (-3 - amount.scale)
    thousandths = -(-abs(amount.unscaled) // parts)
    return Quantity(
        thousandths if amount.unscaled >= 0 else -thousandths, -3, amount.small, amount.suffixes
    )


def parse_quantities(data: Data | None) -> dict[str, Quantity]:
    return {name: parse_quantity(value) for name, value in (data or {}).items()}


def parse_amounts(data: Data | None) -> dict[str, int]:
    """Return resource amounts: cpu in thousandths of a core, and all others in integers, rounded
    up.
    """
    amounts = {}
    for name, value in (data or {}).items():
        quantity = parse_quantity(value)
        amounts[name] = quantity.milli_value if name == "cpu" else quantity.value
    return amounts


def parse_texts(data: Data | None) -> dict[str, str]:
    return {name: text_of(value) for name, value in (data or {}).items()}


def parse_meta(data: Data | None, place: Place = NOWHERE, *, namespaced: bool = True) -> ObjectMeta:
    """Return an object's metadata. A namespaced object without a namespace is in `default`."""
    data = data or {}
    name = text_of(data.get("name"))
    if not name and data.get("generateName"):
        name = f"{data['generateName']}<generated>"
    return ObjectMeta(
        name=name,
        namespace=text_of(data.get("namespace")) or "default" if namespaced else "",
        labels=parse_texts(data.get("labels")),
        annotations=parse_texts(data.get("annotations")),
        uid=text_of(data.get("uid")),
        creation_timestamp=text_of(data.get("creationTimestamp")),
        place=place,
    )


def parse_requirement(data: Data) -> Requirement:
    return Requirement(
        text_of(data.get("key")),
        data.get("operator") or "In",
        tuple(text_of(value) for value in data.get("values") or ()),
    )


def parse_label_selector(data: Data | None) -> LabelSelector | None:
    """Return a label selector, `matchLabels` first and sorted, or None."""
    if data is None:
        return None
    labels = sorted((data.get("matchLabels") or {}).items())
    matches = [Requirement(key, "In", (text_of(value),)) for key, value in labels]
    return LabelSelector(
        (*matches, *(parse_requirement(item) for item in data.get("matchExpressions") or ()))
    )


def parse_node_selector(data: Data | None) -> NodeSelector | None:
    if data is None:
        return None
    return NodeSelector(
        tuple(parse_node_term(term) for term in data.get("nodeSelectorTerms") or ())
    )


def parse_node_term(data: Data) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        tuple(parse_requirement(item) for item in data.get("matchExpressions") or ()),
        tuple(parse_requirement(item) for item in data.get("matchFields") or ()),
    )
