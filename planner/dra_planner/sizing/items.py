"""Demand of one level → items: pods that must share a node, with a count.

Most items are one pod of a shape. Pods that share a claim are one item, because a node's device
serves only that node. All later steps pack items, so they need no special case for shared claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from dra_planner.model import Demand, DemandLevel, Member, ObjectKey, Shape
from dra_planner.offers import pod_requests
from dra_planner.records import equality


class ShapePods(Struct, frozen=True):
    """A number of pods of one shape."""

    shape: Shape
    pods: int


@equality(ignored=("requests",))
class Item(Struct, frozen=True):
    """Pods that must share a node, and the number of such groups.

    If the item has one shape, `alike` lists all shapes with the same needs (including this one) and
    their pods. Shapes and their pods determine `id` and `requests`.
    """

    parts: tuple[ShapePods, ...]
    count: int
    alike: tuple[ShapePods, ...] = ()
    id: str = ""  # identifies an item by its shapes and the number of pods of each shape
    requests: dict[str, int] = {}  # total amounts that the pods request

    def __post_init__(self) -> None:
        if self.id:
            return  # a cached copy with another count
        name = "+".join(f"{part.pods}×{part.shape.id}" for part in self.parts)
        force_setattr(self, "id", f"{name} and {len(self.alike) - 1} alike" if self.alike else name)
        requests: Counter[str] = Counter()
        for part in self.parts:
            for name, amount in pod_requests(part.shape.pod).items():
                requests[name] += amount * part.pods
        force_setattr(self, "requests", dict(requests))

    def times(self, count: int) -> Item:
        """Return the item with this number of equal groups. Cached results of one group are
        kept.
        """
        return replace(self, count=count)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the pods."""
        return tuple(part.shape for part in self.alike or self.parts)

    @property
    def pods(self) -> int:
        """The number of pods in one group."""
        return sum(part.pods for part in self.parts)

    @property
    def priority(self) -> int:
        """The highest priority among the pods."""
        return max(part.shape.pod.priority for part in self.parts)

    @property
    def is_shared(self) -> bool:
        return bool(_shared_keys(self.parts[0].shape))


class Items(Struct, frozen=True, kw_only=True):
    """The demand of one level, split into items."""

    items: tuple[Item, ...]
    daemons: tuple[Shape, ...]  # one pod on each node that admits it
    unbounded: tuple[tuple[Shape, Member], ...]


def split_demand(demand: Demand, level: DemandLevel) -> Items:
    """Return the items of that level in canonical order, sorted by shape. Workloads that add pods
    at this level come last, so that these pods are the ones that stay pending.
    """
    shapes = sorted(
        (shape for shape in demand.shapes if not shape.per_node),
        key=lambda shape: (any(adds_pods(member, level) for member in shape.members), shape.id),
    )
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
                items.append(Item((ShapePods(group[0], 1),), counts[group[0].id]))
            continue
        parts = tuple(ShapePods(shape, counts[shape.id]) for shape in group if counts[shape.id])
        if parts:
            items.append(Item(parts, 1))
    return Items(
        items=tuple(items),
        daemons=tuple(sorted((s for s in demand.shapes if s.per_node), key=lambda shape: shape.id)),
        unbounded=tuple(unbounded),
    )


def adds_pods(member: Member, level: DemandLevel) -> bool:
    """Return whether a scaler or a rollout adds pods to the declared ones at a level."""
    figure = member.figures.at(level)
    return figure is not None and figure > member.figures.steady


def merge_alike(items: Sequence[Item], needs: Callable[[Shape], object | None]) -> tuple[Item, ...]:
    """Merge items with equal needs, in the order of the first item.

    Items with the key None stay separate.
    """
    groups: dict[object, list[Item]] = {}
    for item in items:
        single = len(item.parts) == 1 and item.parts[0].pods == 1
        key = needs(item.parts[0].shape) if single else None
        groups.setdefault(item.id if key is None else key, []).append(item)
    return tuple(_merged(group) if len(group) > 1 else group[0] for group in groups.values())


def _merged(group: Sequence[Item]) -> Item:
    alike = tuple(ShapePods(item.parts[0].shape, item.count) for item in group)
    return Item(group[0].parts, sum(item.count for item in group), alike)


class Shares:
    """Distributes the placed pods of items to their shapes, one after the other."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._left = [list(item.alike) for item in items]

    def take(self, item: int, count: int) -> tuple[ShapePods, ...]:
        """Return the shapes and pods of the next `count` groups of the item."""
        if not self._items[item].alike:
            return tuple(
                ShapePods(part.shape, part.pods * count) for part in self._items[item].parts
            )
        taken, left = [], self._left[item]
        while count and left:
            first = left.pop(0)
            pods = min(count, first.pods)
            taken.append(ShapePods(first.shape, pods))
            count -= pods
            if pods < first.pods:
                left.insert(0, ShapePods(first.shape, first.pods - pods))
        return tuple(taken)

    def nodes_alike(self, pattern: Mapping[int, int], nodes: int) -> int:
        """Return how many of the next nodes with this pattern have pods of the same shapes, at
        least 1.
        """
        for item, count in pattern.items():
            if self._left[item]:
                nodes = min(nodes, self._left[item][0].pods // count)
        return max(1, nodes)


def _shared_keys(shape: Shape) -> tuple[ObjectKey, ...]:
    """Return the keys of the claims that tie a pod to others. Claims without requests don't."""
    return tuple(
        claim.shared for claim in shape.claims if claim.shared is not None and claim.spec.requests
    )


def _groups_sharing(shapes: Iterable[Shape]) -> list[tuple[Shape, ...]]:
    """Group shapes that shared claims tie together, directly or through other shapes, in order."""
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
