"""Which machine types a fleet of few types should have: an estimate, before any of them is sized.

Each workload goes to the chosen type on which its pods use up the least money. Their parts of nodes
are added up as if pods always filled nodes without a rest, so fleets that are estimated here have
to be sized and planned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf
from typing import Final

from dra_planner.sizing import LevelNeeds

_MOST_COMBINED: Final = 24
"""Types among which pairs and triples are looked for: the cheapest for any workload come first."""


def few_machines(needs: LevelNeeds, costs: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Yield the one, two, and three pools that cost least together, as far as these take all pods.

    `costs` are those of a node of each pool.
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
    """Return the price of the parts of nodes that a work takes of a pool; infinite if none fits."""
    work = needs.works[at]
    if pool not in work.needs:
        return inf
    return work.count * needs.share(at, pool) * cost
