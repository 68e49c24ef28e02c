"""Estimate of the best machine types for a fleet with few types, before sizing.

Each workload uses the type on which its pods cost least. Fractions of nodes are added up as if pods
filled nodes perfectly, so the estimated fleets must be sized and planned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf
from typing import Final

from dra_planner.sizing import LevelNeeds

_MOST_COMBINED: Final = 24
"""Number of machine types to combine in pairs and triples, starting with the cheapest for any
workload.
"""


def few_machines(needs: LevelNeeds, costs: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Yield the cheapest one, two, and three pools that fit all pods.

    `costs` are the node prices of each pool.
    """
    pools, works = range(len(costs)), range(len(needs.works))
    prices = [[_price(needs, work, pool, costs[pool]) for work in works] for pool in pools]

    def total(chosen: tuple[int, ...]) -> float:
        rows: list[list[float]] = [prices[pool] for pool in chosen]
        least: list[float] = [min(each) for each in zip(*rows, strict=True)]
        return sum(least)

    cheapest = [min(pools, key=lambda pool: (prices[pool][work], pool)) for work in works]
    alone = sorted(pools, key=lambda pool: (total((pool,)), pool))
    among = sorted(list(dict.fromkeys([*alone[:1], *cheapest, *alone]))[:_MOST_COMBINED])
    for combined in (
        [(pool,) for pool in alone],
        list(combinations(among, 2)),
        list(combinations(among, 3)),
    ):
        best = min(combined, key=lambda each: (total(each), each), default=())
        if best and total(best) < inf:
            yield best


def _price(needs: LevelNeeds, at: int, pool: int, cost: float) -> float:
    """Return the price of a work's fractions of the pool's nodes, or infinity if it doesn't fit."""
    work = needs.works[at]
    if pool not in work.needs:
        return inf
    return work.count * needs.share(at, pool) * cost
