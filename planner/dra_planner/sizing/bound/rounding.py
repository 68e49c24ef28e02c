"""A cost bound, raised to a possible cost of whole nodes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dra_planner.sizing.bound.exact import BoundModel, Worth

MOST_STEPS = 20_000
"""Maximum number of fleets to add up in the search for one that costs at least the bound."""


MOST_NODES = 1_000
"""Maximum number of nodes for this search. With more nodes, one node is less than a thousandth of
the cost.
"""


def raise_to_whole_nodes(
    least: Fraction, most: int, nodes: Sequence[int], model: BoundModel, costs: Sequence[int]
) -> Fraction:
    """Return the lowest possible cost of a fleet that costs at least `least`, or `least` if there
    are too many fleets.

    `nodes` are the minimum nodes of each pool, and `most` is the cost of a known fleet.
    """
    sums, steps = {sum(cost * count for cost, count in zip(costs, nodes, strict=True))}, 0
    for cost, count, pool in zip(costs, nodes, model.pools, strict=True):
        if not cost:
            continue
        grown = set(sums)
        for before in sums:
            further = min((most - before) // cost, pool.maximum - count)
            steps += max(0, further)
            if steps > MOST_STEPS:
                return least
            grown.update(range(before + cost, before + (further + 1) * cost, cost))
        sums = grown
    return Fraction(min((each for each in sums if each >= least), default=least))


def least_in_whole_nodes(worth: Worth, model: BoundModel, costs: Sequence[int]) -> int | None:
    """Return the minimum cost of whole nodes that are worth as much as the demand, or None after
    too many tries.

    Nodes with the best worth for their price come first, high counts before low ones. The rest
    costs at least as much as fractions of the next ones.
    """
    floor = sum(cost * pool.minimum for cost, pool in zip(costs, model.pools, strict=True))
    missing = worth.demand - sum(
        model.pools[pool].minimum * value for pool, value in worth.nodes.items()
    )
    pools = [
        (
            costs[pool],
            value,
            model.pools[pool].maximum - model.pools[pool].minimum,
            tuple(limit.takes.get(pool, 0) for limit in model.limits),
        )
        for pool, value in worth.nodes.items()
        if value
    ]
    pools.sort(key=lambda each: (Fraction(each[0], each[1]), each))
    if len(pools) > 1 and missing > MOST_NODES * pools[0][1]:
        return None
    best: int | None = None
    waiting: list[tuple[int, int, int, int | None, tuple[int, ...]]]
    # position, cost so far, missing worth, maximum nodes of the pool at this position, remaining
    # part of each limit
    waiting = [(0, 0, missing, None, tuple(limit.left(model) for limit in model.limits))]
    for _ in range(MOST_STEPS):
        if not waiting:
            return None if best is None else floor + best
        at, paid, left, most, shared = waiting.pop()
        if left <= 0:
            best = paid if best is None else min(best, paid)
            continue
        if at == len(pools):
            continue
        cost, value, limit, taken = pools[at]
        if best is not None and paid * value + cost * left >= best * value:
            continue
        if most is None:
            most = min(
                [
                    limit,
                    -(-left // value),
                    *(free // each for free, each in zip(shared, taken, strict=True) if each),
                ]
            )
        if most:
            waiting.append((at, paid, left, most - 1, shared))
        rest = tuple(free - most * each for free, each in zip(shared, taken, strict=True))
        waiting.append((at + 1, paid + most * cost, left - most * value, None, rest))
    return None
