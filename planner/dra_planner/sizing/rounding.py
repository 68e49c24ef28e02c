"""A bound on cost, raised to what whole nodes can cost."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dra_planner.sizing.bound import BoundModel

MOST_STEPS = 20_000
"""Fleets that are added up at most, in the search for those that cost no less than a bound."""


def raise_to_whole_nodes(
    least: Fraction, most: int, nodes: Sequence[int], model: BoundModel, costs: Sequence[int]
) -> Fraction:
    """Return the least that a fleet can cost which costs `least` or more; `least` where too many would be listed.

    `nodes` are what every fleet has of each pool at least; `most` is what one that is known costs.
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
