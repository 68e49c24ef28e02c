"""Bulk vector fill: one node gets its fair share of every item, and that pattern is repeated.

First-fit by size fills early nodes with items that need much of one resource, and late nodes with
items that need another, and wastes both. Here, a node gets floor(remaining ÷ nodes still needed) of
every item, and then the items that best match its remaining capacity. This node is repeated as
often as the demand allows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import mul

from dra_planner.sizing.packing.filling import Filling, FillStage
from dra_planner.sizing.packing.first_fit import Items, NodeClass, Packing, Room

MOST_ITEMS = 48
"""Maximum number of items in one pool for topping up."""

WHOLE = 2**20
"""Number of parts in a node's row. An item's need is a number of parts, rounded down."""

Weights = Mapping[tuple[int, int], tuple[int, ...]]


def refill(
    packing: Packing, rooms: Sequence[Room], items: Items, weights: Weights, filling: Filling
) -> Iterator[Packing]:
    """Yield the packing with every pool refilled if this needs fewer nodes, otherwise nothing."""
    held: dict[int, dict[int, int]] = defaultdict(dict)
    for (item, pool), count in packing.placed.items():
        if count:
            held[pool][item] = count
    used, improved = packing.used_nodes(rooms), False
    classes = list(packing.classes)
    for pool, left in sorted(held.items()):
        if not 2 <= len(left) <= MOST_ITEMS or used[pool] < 2:
            continue
        fresh = _fill_pool(pool, dict(left), rooms[pool].empty, items, weights, filling)
        if fresh is not None and sum(group.count for group in fresh) < used[pool]:
            classes = [group for group in classes if group.pool != pool] + fresh
            improved = True
    if improved:
        yield Packing(
            classes=classes,
            opened=list(packing.opened),
            placed=packing.placed,
            pending=dict(packing.pending),
            method=packing.method.replace("first-fit", "vector fill"),
        )


def _fill_pool(
    pool: int,
    left: dict[int, int],
    empty: FillStage,
    items: Items,
    weights: Weights,
    filling: Filling,
) -> list[NodeClass] | None:
    classes: list[NodeClass] = []
    steps = 4 * len(left) + 8
    while left and steps:
        steps -= 1
        stage, history = _pattern(pool, left, empty, items, weights, filling)
        if not history:
            return None
        pattern: Counter[int] = Counter()
        for item, count in history:
            pattern[item] += count
        times = min(left[item] // count for item, count in pattern.items())
        classes.append(NodeClass(pool, stage, times, tuple(history)))
        left = {item: n for item, count in left.items() if (n := count - times * pattern[item])}
    return None if left else classes


def _pattern(
    pool: int,
    left: Mapping[int, int],
    empty: FillStage,
    items: Items,
    weights: Weights,
    filling: Filling,
) -> tuple[FillStage, list[tuple[int, int]]]:
    """Return one node with its fair share of the rest, topped up, and the placed items in order."""
    rows = range(len(weights[next(iter(left)), pool]))
    area = [sum(weights[item, pool][row] * count for item, count in left.items()) for row in rows]
    nodes = max(1, -(-max(area, default=WHOLE) // WHOLE))
    stage = empty
    history: list[tuple[int, int]] = []
    room = [WHOLE] * len(rows)
    for item in sorted(left, key=lambda item: (-max(weights[item, pool], default=0), item)):
        count, stage = filling.fill(items[item], stage, left[item] // nodes)
        if count:
            history.append((item, count))
            room = [
                free - count * taken for free, taken in zip(room, weights[item, pool], strict=True)
            ]
    missing = {item: left[item] - dict(history).get(item, 0) for item in left}
    open_items = {item for item, count in missing.items() if count}
    while open_items:
        item = min(open_items, key=lambda item: (-_aligned(weights[item, pool], room), item))
        after = filling.add(items[item], stage)
        if after is None:
            open_items.discard(item)
            continue
        stage = after
        history.append((item, 1))
        missing[item] -= 1
        room = [free - taken for free, taken in zip(room, weights[item, pool], strict=True)]
        if not missing[item]:
            open_items.discard(item)
    return stage, history


def _aligned(weight: Sequence[int], room: Sequence[int]) -> int:
    return sum(map(mul, weight, room))
