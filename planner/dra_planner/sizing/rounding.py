"""A bound on cost, raised to what whole nodes can cost."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dra_planner.sizing.bound import BoundModel

MOST_SUMS = 20_000
"""Different costs of fleets up to which all are listed."""


def raise_to_whole_nodes(
    least: Fraction, most: Fraction, nodes: Sequence[int], model: BoundModel, costs: Sequence[Fraction]
) -> Fraction:
    """Return the least that a fleet can cost which costs `least` or more; `least` where too many would be listed.

    `nodes` are what every fleet has of each pool at least; `most` is what one that is known costs.
    """
    sums = {sum((cost * count for cost, count in zip(costs, nodes, strict=True)), Fraction(0))}
    for cost, count, pool in zip(costs, nodes, model.pools, strict=True):
        if not cost:
            continue
        grown = set(sums)
        for before in sums:
            further = min(int((most - before) / cost), pool.maximum - count)
            if len(grown) + further > MOST_SUMS:
                return least
            grown.update(before + more * cost for more in range(1, further + 1))
        sums = grown
    return min((each for each in sums if each >= least), default=least)
