"""Bulk first-fit: put items on classes of identical nodes instead of on nodes.

Walking classes (state, count) in opening order gives exactly what walking nodes and pods one by one
would give, in time that grows with shapes and classes and not with pods: a class takes as many
items as its state can be filled with, the last node of it takes the rest, and at most one class
becomes three.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dra_planner.model import SharedLimit, nodes_left
from dra_planner.sizing.items import Item
from dra_planner.sizing.packing.filling import Filling, FillStage


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where items may go: an empty node of a pool, and how many nodes there must and may be.

    Pools of equal nodes may share the stage. `limits` are those that its nodes share with other
    pools.
    """

    name: str
    empty: FillStage
    minimum: int
    maximum: int | None
    limits: tuple[SharedLimit, ...] = ()


@dataclass(slots=True)
class NodeClass:
    """Identical nodes of a pool, and how they were filled: (item, how many), in order."""

    pool: int
    stage: FillStage
    count: int
    history: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class Packing:
    """A packing, complete or not. Items go by their position, pools by theirs."""

    classes: list[NodeClass]
    opened: list[int]
    placed: defaultdict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    pending: dict[int, int] = field(default_factory=dict)
    method: str = ""

    def copy(self) -> Packing:
        """Return a packing with the same nodes, to which other items are added."""
        classes = [replace(group) for group in self.classes]
        return Packing(
            classes, list(self.opened), self.placed.copy(), dict(self.pending), self.method
        )

    def used_nodes(self, rooms: Sequence[Room]) -> list[int]:
        """Return nodes per pool, the minimum at least; empty nodes above it are not counted."""
        used = [0] * len(rooms)
        for group in self.classes:
            if group.history:
                used[group.pool] += group.count
        return [max(count, room.minimum) for count, room in zip(used, rooms, strict=True)]


Items = Sequence[Item] | Mapping[int, Item]
"""Items by their position."""

Takers = Sequence[Collection[int]]
"""Pools that an item may go to, by its position."""

Choose = Callable[[int, int, Sequence[int | None]], tuple[int, int] | None]
"""(item, how many are left, nodes each pool may still open) → (pool, nodes to open), None when
nothing helps.
"""


def room_of(pool: int, rooms: Sequence[Room], opened: Sequence[int]) -> int | None:
    """Return how many nodes one pool may still open; None where nothing bounds it."""
    room = rooms[pool]
    if room.limits:
        return room_left(rooms, opened)[pool]
    return None if room.maximum is None else room.maximum - opened[pool]


def room_left(rooms: Sequence[Room], opened: Sequence[int]) -> list[int | None]:
    """Return how many nodes each pool may still open; None where nothing bounds it.

    Of what pools share, so much is kept for others as the nodes that they must have take.
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
    """Return the packing of the items, taken in that order, each on the first node that takes it.

    `starts` says how many nodes of each pool are open from the start, `takers` to which pools an
    item may go.
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
    """Put further items on a packing, in that order, each on the first node that takes it."""
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
    """Fill the nodes that are open, first class first; returns how many items are not placed."""
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
    """Return what becomes of a class (full nodes, the node that takes the rest, untouched nodes)
    and what was placed.

    `held` is how many of the wanted ones a node takes, and what it becomes.
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
