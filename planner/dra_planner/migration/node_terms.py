"""Split a pod's node selection into conditions on devices and conditions on nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from dra_planner.documents.plain_values import block, blocks, indexed_blocks, listed
from dra_planner.drivers.protocol.device_plugin import LabelTerm, NotTranslatable, SelectionNeeds
from dra_planner.migration.device_plugins import is_about_devices, needs_of

_TERMS: Final = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)


class NodeSelection(Struct, frozen=True, kw_only=True):
    """A pod's node selection as requirements for devices, and the paths of its parts, last
    first.
    """

    needs: SelectionNeeds = field(default_factory=SelectionNeeds)
    device_parts: tuple[tuple[str | int, ...], ...] = ()


def split_node_selection(spec: Mapping[str, Any]) -> NodeSelection:
    """Return the requirements for devices in `nodeSelector` and required node affinity.

    Raises NotTranslatable, for example if affinity allows either a GPU label or a zone. A claim and
    a node selector can't be alternatives, because pods must satisfy both.
    """
    terms: list[LabelTerm] = []
    parts: list[tuple[str | int, ...]] = []
    selector = spec.get("nodeSelector")
    for key, value in selector.items() if isinstance(selector, Mapping) else ():
        term = LabelTerm(str(key), "In", (str(value),))
        if is_about_devices(term.key):
            terms.append(term)
            parts.append(("nodeSelector", str(key)))
    affinity = _required_terms(spec)
    if len(affinity) == 1:
        for index, term in _expressions(affinity[0]):
            if is_about_devices(term.key):
                terms.append(term)
                parts.append((*_TERMS, 0, "matchExpressions", index))
        return NodeSelection(needs=needs_of(terms), device_parts=tuple(reversed(parts)))
    alternatives = [[term for _, term in _expressions(each)] for each in affinity]
    if any(is_about_devices(term.key) for each in alternatives for term in each):
        either = _either(alternatives)
        own = needs_of(terms)
        merged = SelectionNeeds(
            conditions=(*own.conditions, either),
            profile=own.profile,
            sharing=own.sharing,
            clients=own.clients,
        )
        return NodeSelection(needs=merged, device_parts=(_TERMS[:3], *reversed(parts)))
    return NodeSelection(needs=needs_of(terms), device_parts=tuple(reversed(parts)))


def _either(alternatives: Sequence[Sequence[LabelTerm]]) -> str:
    """Return the combined condition of alternatives that concern only devices."""
    conditions = []
    for terms in alternatives:
        if not all(is_about_devices(term.key) for term in terms):
            raise NotTranslatable(
                "its node affinity allows either nodes with a GPU label or other nodes"
            )
        needs = needs_of(terms)
        if needs.profile or needs.sharing:
            raise NotTranslatable(
                "one of its alternative node affinity terms selects MIG devices or shared GPUs"
            )
        conditions.append(" && ".join(needs.conditions))
    return f"({' || '.join(f'({each})' for each in conditions)})"


def _required_terms(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: Any = spec
    for key in _TERMS:
        found = found.get(key) if isinstance(found, Mapping) else None
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _expressions(term: Mapping[str, Any]) -> list[tuple[int, LabelTerm]]:
    return [
        (
            index,
            LabelTerm(
                str(each.get("key")),
                str(each.get("operator")),
                tuple(map(str, listed(each.get("values")))),
            ),
        )
        for index, each in indexed_blocks(term.get("matchExpressions"))
    ]


def missing_label_notes(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note if unchanged pods need node labels that DRA nodes might not have."""
    keys = {str(key) for key in block(spec, "nodeSelector")}
    keys |= {term.key for each in _required_terms(spec) for _, term in _expressions(each)}
    if found := sorted(filter(is_about_devices, keys)):
        yield (
            f"it selects nodes by {' and '.join(found)}, so DRA nodes need this label; run GPU "
            "feature discovery on them, or add the label to the pool"
        )


def preference_notes(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note if pods prefer nodes by labels that DRA nodes might not have."""
    affinity = block(block(spec, "affinity"), "nodeAffinity")
    preferred = blocks(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
    keys = {term.key for each in preferred for _, term in _expressions(block(each, "preference"))}
    if found := sorted(filter(is_about_devices, keys)):
        yield (
            f"it prefers nodes by {' and '.join(found)}, but DRA nodes might not have these "
            "labels; list the preferred devices in firstAvailable of the claim's request instead"
        )
