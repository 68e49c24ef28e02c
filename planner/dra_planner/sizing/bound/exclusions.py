"""Sets of items whose pods keep each other off a node, because of their anti-affinity.

A rule holds in both directions: the scheduler neither adds a pod to a node with a pod that the new
pod avoids, nor to a node with a pod that avoids the new pod.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.allocation.node.pod_rules import PodView, term_selects
from dra_planner.model import PodAffinityTerm, Shape
from dra_planner.sizing.items import Item
from dra_planner.sizing.packing.empty_nodes import Nodes

_MOST_GROUPS: Final = 100
"""The maximum number of sets, because each adds a row to the bound. Fewer rows weaken the bound."""

Exclusions = dict[int, set[int]]
"""The items that each item excludes from its nodes. An item can exclude further pods of itself."""


def find_exclusions(items: Iterable[Item], nodes: Nodes) -> Exclusions:
    """Return the items that exclude each other, by position."""
    shapes = {at: item.shapes for at, item in enumerate(items)}
    by_label: dict[tuple[str, str], set[int]] = defaultdict(set)
    for at, own in shapes.items():
        for shape in own:
            for label in shape.labels.items():
                by_label[label].add(at)
    found: Exclusions = defaultdict(set)
    for owner, own in shapes.items():
        for shape, term in _rules(own):
            likely = _with_required_label(term, by_label)
            for other in shapes if likely is None else likely:
                if any(_avoids(shape, term, each, nodes) for each in shapes[other]):
                    found[owner].add(other)
                    found[other].add(owner)
    return dict(found)


def _rules(shapes: Iterable[Shape]) -> Iterator[tuple[Shape, PodAffinityTerm]]:
    for shape in shapes:
        for term in shape.pod.pod_anti_affinity:
            if term.topology_key == HOSTNAME:
                yield shape, term


def _avoids(shape: Shape, term: PodAffinityTerm, other: Shape, nodes: Nodes) -> bool:
    """Return whether a pod's term certainly selects another pod. Controllers add labels such as
    pod-template-hash, which are only equal in one workload.
    """
    is_known = all(key in shape.labels for key in term.match_label_keys)
    is_one_workload = shape is other and len(shape.members) == 1
    return (is_known or is_one_workload) and term_selects(
        term, PodView.of(shape), PodView.of(other), nodes.namespaces
    )


def exclusive_groups(items: Iterable[int], exclusions: Exclusions) -> Iterator[tuple[int, ...]]:
    """Yield sets of these items of which a node holds pods of only one, so that each pair is in a
    set, up to a maximum number of sets.
    """
    inside = {item: exclusions[item] for item in items if item in exclusions}
    covered: set[tuple[int, int]] = set()
    groups = 0
    for item, others in inside.items():
        for other in sorted(others & inside.keys()):
            if (item, other) in covered or groups == _MOST_GROUPS:
                continue
            group = _extended(list(dict.fromkeys((item, other))), inside)
            covered |= {(first, second) for first in group for second in group}
            groups += 1
            yield tuple(group)


def _extended(group: list[int], inside: Exclusions) -> list[int]:
    """Return the largest set that adding items in order gives."""
    for each in inside:
        if each not in group and all(each in inside[member] for member in group):
            group.append(each)
    return group


def _with_required_label(
    term: PodAffinityTerm, by_label: dict[tuple[str, str], set[int]]
) -> set[int] | None:
    """Return the items with a label that a term requires, or None if any item could match."""
    requirements = term.label_selector.requirements if term.label_selector is not None else ()
    for each in requirements:
        if each.operator == "In":
            return {at for value in each.values for at in by_label.get((each.key, value), ())}
    return None
