"""Bulk first-fit: place items on classes of identical nodes instead of single nodes.

Processing classes (state, count) in opening order gives the same result as placing pods one by one,
but the time depends on shapes and classes instead of pods. Each node of a class gets as many items
as fit, the last node gets the rest, and at most one class is split into three.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.model import SharedLimit, nodes_left
from dra_planner.sizing.items import Item
from dra_planner.sizing.packing.filling import Filling, FillStage


class Room(Struct, frozen=True, kw_only=True):
    """A pool that can hold items: its empty node, and its minimum and maximum number of nodes.

    Pools with equal nodes can share the stage. `limits` are the pool's shared limits.
    """

    name: str
    empty: FillStage
    minimum: int
    maximum: int | None
    limits: tuple[SharedLimit, ...] = ()


class NodeClass(Struct):
    """Identical nodes of a pool, and the (item, count) pairs that fill them, in order."""

    pool: int
    stage: FillStage
    count: int
    history: tuple[tuple[int, int], ...] = ()


class Packing(Struct):
    """A complete or partial packing. Items and pools are referred to by position."""

    classes: list[NodeClass]
    opened: list[int]
    placed: defaultdict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    pending: dict[int, int] = {}
    method: str = ""

    def copy(self) -> Packing:
        """Return a packing with the same nodes, to which other items can be added."""
        classes = [replace(group) for group in self.classes]
        return Packing(
            classes, list(self.opened), self.placed.copy(), dict(self.pending), self.method
        )

    def used_nodes(self, rooms: Sequence[Room]) -> list[int]:
        """Return nodes per pool, at least the minimum. Empty nodes above it don't count."""
        used = [0] * len(rooms)
        for group in self.classes:
            if group.history:
                used[group.pool] += group.count
        return [max(count, room.minimum) for count, room in zip(used, rooms, strict=True)]


Items = Sequence[Item] | Mapping[int, Item]
"""Positions of items."""

Takers = Sequence[Collection[int]]
"""Pools that an item can use, by the item's position."""

Choose = Callable[[int, int, Sequence[int | None]], tuple[int, int] | None]
"""(item, remaining count, nodes that each pool can still open) → (pool, nodes to open), or None if
nothing helps.
"""


def room_of(pool: int, rooms: Sequence[Room], opened: Sequence[int]) -> int | None:
    """Return how many nodes one pool can still open, or None if there is no limit."""
    room = rooms[pool]
    if room.limits:
        return room_left(rooms, opened)[pool]
    return None if room.maximum is None else room.maximum - opened[pool]


def room_left(rooms: Sequence[Room], opened: Sequence[int]) -> list[int | None]:
    """Return how many nodes each pool can still open, or None if there is no limit.

    Shared limits keep enough for the required nodes of other pools.
    """
    left = [
        None if each.maximum is None else each.maximum - count
        for each, count in zip(rooms, opened, strict=True)
    ]
    limits = dict.fromkeys(limit for room in rooms for limit in room.limits)
    if limits:
        counts = [max(count, room.minimum) for count, room in zip(opened, rooms, strict=True)]
        shared = nodes_left(
            limits, {room.name: count for room, count in zip(rooms, counts, strict=True)}
        )
        for pool, room in enumerate(rooms):
            if room.name in shared:
                more, own = shared[room.name] + counts[pool] - opened[pool], left[pool]
                left[pool] = more if own is None else min(own, more)
    return left


def pack(
    items: Items,
    order: Iterable[int],
    rooms: Sequence[Room],
    starts: Sequence[int],
    takers: Takers,
    filling: Filling,
    choose: Choose,
) -> Packing:
    """Return the packing of the items in this order, each on the first node that it fits.

    `starts` is the number of nodes of each pool that are open initially, and `takers` are the pools
    that an item can use.
    """
    packing = Packing(
        classes=[
            NodeClass(pool, room.empty, count)
            for pool, (room, count) in enumerate(zip(rooms, starts, strict=True))
            if count
        ],
        opened=list(starts),
    )
    extend(packing, items, order, rooms, takers, filling, choose)
    return packing


def extend(
    packing: Packing,
    items: Items,
    order: Iterable[int],
    rooms: Sequence[Room],
    takers: Takers,
    filling: Filling,
    choose: Choose,
) -> None:
    """Add further items to a packing in this order, each on the first node that it fits."""
    room = room_left(rooms, packing.opened)
    for index in order:
        left = _fill_open(packing, index, items[index], takers[index], filling)
        while left:
            choice = choose(index, left, room)
            if choice is None:
                break
            pool, nodes = choice
            packing.opened[pool] += nodes
            if rooms[pool].limits:
                room = room_left(rooms, packing.opened)
            else:
                room[pool] = room_of(pool, rooms, packing.opened)
            empty = NodeClass(pool, rooms[pool].empty, nodes)
            held = filling.fill(items[index], empty.stage, left)
            fresh, filled = _filled(empty, index, items[index], left, filling, held)
            packing.classes.extend(fresh)
            packing.placed[index, pool] += filled
            left -= filled
        if left:
            packing.pending[index] = left


def _fill_open(
    packing: Packing, index: int, item: Item, pools: Collection[int], filling: Filling
) -> int:
    """Fill the open nodes, first class first. Return the number of unplaced items."""
    left, classes = item.count, packing.classes
    packing.classes = []
    for position, group in enumerate(classes):
        if not left:
            packing.classes.extend(classes[position:])
            break
        held = filling.fill(item, group.stage, left) if group.pool in pools else _NOTHING
        if not held[0]:
            packing.classes.append(group)
            continue
        parts, filled = _filled(group, index, item, left, filling, held)
        packing.placed[index, group.pool] += filled
        left -= filled
        packing.classes.extend(parts)
    return left


_NOTHING: tuple[int, None] = (0, None)


def _filled(
    group: NodeClass,
    index: int,
    item: Item,
    wanted: int,
    filling: Filling,
    held: tuple[int, FillStage | None],
) -> tuple[list[NodeClass], int]:
    """Return the new classes (full nodes, the node with the rest, and unchanged nodes).

    Also returns the number of placed items. `held` contains the number of items that fit a node,
    and the node's new state.
    """
    most, last = held
    if not most or last is None:
        return [group], 0
    full = min(group.count, wanted // most)
    rest = wanted - full * most if full < group.count else 0
    rest = min(rest, most)
    parts = [NodeClass(group.pool, last, full, (*group.history, (index, most)))] if full else []
    if rest:
        after = filling.fill(item, group.stage, rest)[1]
        parts.append(NodeClass(group.pool, after, 1, (*group.history, (index, rest))))
    untouched = group.count - full - (1 if rest else 0)
    if untouched:
        parts.append(NodeClass(group.pool, group.stage, untouched, group.history))
    return parts, full * most + rest
