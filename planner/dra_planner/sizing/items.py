"""Demand of one level → items: pods that go to one node together, with a count.

Most items are one pod of a shape. Pods that share a claim are one item, since a device of a node serves only
that node; items are what every later step packs, so a shared claim needs no case of its own there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dra_planner.model import Demand, DemandLevel, Member, ObjectKey, Shape
from dra_planner.offers import pod_requests


@dataclass(frozen=True, slots=True)
class Part:
    """So many pods of one shape."""

    shape: Shape
    pods: int


@dataclass(frozen=True, slots=True)
class Item:
    """Pods that go to one node together, and how many such groups there are."""

    parts: tuple[Part, ...]
    count: int
    id: str = field(init=False)  # what tells items apart: the shapes and how many pods of each
    requests: dict[str, int] = field(init=False, compare=False)  # amounts that the pods request together

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", "+".join(f"{part.pods}×{part.shape.id}" for part in self.parts))
        requests: Counter[str] = Counter()
        for part in self.parts:
            for name, amount in pod_requests(part.shape.pod).items():
                requests[name] += amount * part.pods
        object.__setattr__(self, "requests", dict(requests))

    def times(self, count: int) -> Item:
        """Return so many of the same groups; what was worked out about one is kept."""
        item = object.__new__(Item)
        known = {"parts": self.parts, "count": count, "id": self.id, "requests": self.requests}
        for name, value in known.items():
            object.__setattr__(item, name, value)
        return item

    @property
    def pods(self) -> int:
        """Pods of one group."""
        return sum(part.pods for part in self.parts)

    @property
    def priority(self) -> int:
        """The highest priority among the pods."""
        return max(part.shape.pod.priority for part in self.parts)

    @property
    def is_shared(self) -> bool:
        return bool(_shared_keys(self.parts[0].shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The demand of one level, taken apart."""

    items: tuple[Item, ...]
    daemons: tuple[Shape, ...]  # one pod on each node that takes it
    unbounded: tuple[tuple[Shape, Member], ...]


def split_demand(demand: Demand, level: DemandLevel) -> Items:
    """Return the items of that level in canonical order, sorted by shape."""
    shapes = sorted((shape for shape in demand.shapes if not shape.per_node), key=lambda shape: shape.id)
    counts: dict[str, int] = {}
    unbounded: list[tuple[Shape, Member]] = []
    for shape in shapes:
        figures = [(member, member.figures.at(level)) for member in shape.members]
        counts[shape.id] = sum(figure for _, figure in figures if figure is not None)
        unbounded.extend((shape, member) for member, figure in figures if figure is None)
    items: list[Item] = []
    for group in _groups_sharing(shapes):
        if not _shared_keys(group[0]):
            if counts[group[0].id]:
                items.append(Item((Part(group[0], 1),), counts[group[0].id]))
            continue
        parts = tuple(Part(shape, counts[shape.id]) for shape in group if counts[shape.id])
        if parts:
            items.append(Item(parts, 1))
    return Items(
        items=tuple(items),
        daemons=tuple(sorted((s for s in demand.shapes if s.per_node), key=lambda shape: shape.id)),
        unbounded=tuple(unbounded),
    )


def _shared_keys(shape: Shape) -> tuple[ObjectKey, ...]:
    """Keys of the claims that tie a pod to others; a claim without requests ties nothing."""
    return tuple(claim.shared for claim in shape.claims if claim.shared is not None and claim.spec.requests)


def _groups_sharing(shapes: Iterable[Shape]) -> list[tuple[Shape, ...]]:
    """Group shapes that are tied by shared claims, directly or through others; order is kept."""
    group_of: dict[ObjectKey, list[Shape]] = {}
    groups: list[list[Shape]] = []
    for shape in shapes:
        tied: list[list[Shape]] = []
        for key in _shared_keys(shape):
            found = group_of.get(key)
            if found is not None and all(found is not other for other in tied):
                tied.append(found)
        group = tied[0] if tied else []
        if not tied:
            groups.append(group)
        for other in tied[1:]:
            group.extend(other)
            groups[:] = [kept for kept in groups if kept is not other]
        group.append(shape)
        for member in group:
            group_of.update(dict.fromkeys(_shared_keys(member), group))
    return [tuple(sorted(group, key=lambda shape: shape.id)) for group in groups]
