"""Move whole nodes of a packing to cheaper machine types if these can hold the same pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import mul

from dra_planner.sizing.packing.first_fit import NodeClass, Packing, room_of
from dra_planner.sizing.packing.patterns import Patterns, totals
from dra_planner.sizing.packing.strategies import Market
from dra_planner.sizing.packing.vector_fill import WHOLE


def downsize(packing: Packing, market: Market, patterns: Patterns) -> None:
    """Move the contents of nodes to nodes of the cheapest suitable pool, within maximums and shared
    limits.

    Required nodes keep their contents, because they cost the same without them.
    """
    rooms, costs = market.found.rooms, market.costs
    by_cost = sorted(range(len(rooms)), key=lambda pool: (costs[pool], pool))
    moved: list[NodeClass] = []
    for group in packing.classes:
        pattern = totals(group.history)
        spare = (
            min(group.count, packing.opened[group.pool] - rooms[group.pool].minimum)
            if pattern
            else 0
        )
        for pool in _cheaper(by_cost, group.pool, pattern, market) if spare > 0 else ():
            left = room_of(pool, rooms, packing.opened)
            nodes = spare if left is None else min(spare, left)
            if nodes <= 0:
                continue
            stage, history = patterns.fill(pool, pattern)
            if totals(history) != pattern:
                continue
            moved.append(NodeClass(pool, stage, nodes, history))
            for counts, sign in ((pool, 1), (group.pool, -1)):
                packing.opened[counts] += sign * nodes
                for item, number in pattern.items():
                    packing.placed[item, counts] += sign * nodes * number
            group.count -= nodes
            spare -= nodes
            if not spare:
                break
    packing.classes = [group for group in packing.classes if group.count] + moved


def _cheaper(
    by_cost: list[int], own: int, pattern: Mapping[int, int], market: Market
) -> Iterator[int]:
    """Yield the pools of cheaper nodes that may fit these numbers of items, cheapest first."""
    fills, weights = market.found.fills, market.weights
    # starting with the items that are hardest to place
    wanted = sorted(pattern.items(), key=lambda each: fills[each[0], own] / each[1])
    for pool in by_cost:
        if market.costs[pool] >= market.costs[own]:
            return
        for item, count in wanted:
            if fills[item, pool] < count:
                break
        else:
            rows = zip(*(weights[item, pool] for item in pattern), strict=True)
            if all(sum(map(mul, row, pattern.values())) <= WHOLE for row in rows):
                yield pool
