"""Maximums with which pending items run. Every raise is tried before it's reported."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from dra_planner.sizing.answers import Enough
from dra_planner.sizing.packing.filling import Filling
from dra_planner.sizing.packing.first_fit import Packing, Room
from dra_planner.sizing.packing.strategies import Market, best_packing
from dra_planner.sizing.prices import NodeCost, total_cost

MOST_POOLS_TRIED = 4
"""Maximum number of pools to try for one pending item, cheapest first."""


def enough_nodes(
    market: Market, filling: Filling, needed: Sequence[int], packing: Packing
) -> Enough:
    """Return maximums and shared limits with which every item that fits some node is placed.

    The pool with the cheapest raise is raised first, one pool at a time, until nothing is pending.
    Other pools keep their maximum. If no raise helps, all pools keep their maximum. Shared limits
    are raised as needed.
    """
    before, limits = (
        market.found.rooms,
        dict.fromkeys(limit for room in market.found.rooms for limit in room.limits),
    )
    rooms: Sequence[Room] = before
    if limits:
        rooms = before = tuple(replace(room, limits=()) for room in rooms)
        # proofs apply only within the limits
        needed = [room.minimum for room in rooms]
        packing = best_packing(market, filling, needed, rooms)
    pending = _pending(market, packing)
    while pending:
        tried = [
            _raise(market, filling, needed, rooms, pool)
            for pool in _cheapest_pools(market, min(pending))
        ]
        rooms, packing = min(tried, key=lambda each: _cost(market, each[0]))
        left = _pending(market, packing)
        if sum(left.values()) >= sum(pending.values()):
            rooms, limits = before, {}
            break
        pending = left
    counts = {
        room.name: count for room, count in zip(rooms, packing.used_nodes(rooms), strict=True)
    }
    raised = tuple((limit, used) for limit in limits if (used := limit.used(counts)) > limit.most)
    return Enough(tuple(room.maximum or 0 for room in rooms), raised, packing.used_nodes(rooms))


def _pending(market: Market, packing: Packing) -> dict[int, int]:
    """Return the pending pods of items that fit an empty node of some pool."""
    found = market.found
    return {
        item: found.items[item].pods * count
        for item, count in packing.pending.items()
        if found.pools_of(item)
    }


def _cheapest_pools(market: Market, item: int) -> list[int]:
    fills = market.found.fills

    def price(pool: int) -> tuple[tuple[Fraction, ...], int]:
        return tuple(Fraction(cost, fills[item, pool]) for cost in market.costs[pool]), pool

    return sorted(market.found.pools_of(item), key=price)[:MOST_POOLS_TRIED]


def _raise(
    market: Market, filling: Filling, needed: Sequence[int], rooms: Sequence[Room], pool: int
) -> tuple[tuple[Room, ...], Packing]:
    """Let one pool grow as far as needed. Return the rooms with a sufficient maximum, and the
    packing.
    """
    free = best_packing(market, filling, needed, _with_maximum(rooms, pool, None))
    for nodes in (free.used_nodes(rooms)[pool], free.opened[pool]):
        grown = _with_maximum(rooms, pool, max(rooms[pool].maximum or 0, nodes))
        packing = best_packing(market, filling, needed, grown)
        if sum(packing.pending.values()) <= sum(free.pending.values()):
            break
    return grown, packing


def _with_maximum(rooms: Sequence[Room], pool: int, maximum: int | None) -> tuple[Room, ...]:
    return tuple(
        replace(room, maximum=maximum) if index == pool else room
        for index, room in enumerate(rooms)
    )


def _cost(market: Market, rooms: Sequence[Room]) -> NodeCost:
    raises = [
        (new.maximum or 0) - (old.maximum or 0)
        for new, old in zip(rooms, market.found.rooms, strict=True)
    ]
    return total_cost(raises, market.costs)
