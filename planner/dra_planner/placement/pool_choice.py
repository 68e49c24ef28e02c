"""Choose the pools that a plan with guards should use if there are very many pools, by searching
groups on few pools for each work. A packing can mix works on a node in ways that guards can't,
so the best packing and the best guarded plan use different pools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.model import Shape
from dra_planner.placement.assignment import Pools
from dra_planner.placement.assignment_search import find_assignment
from dra_planner.placement.single_pools import assign_single_pools
from dra_planner.placement.spread_groups import SpreadSizes
from dra_planner.placement.workload_groups import WorkloadGroup
from dra_planner.sizing import LevelNeeds
from dra_planner.sizing.bound.solver import load_solver

# number of pools per work, chosen by lowest cost with shared nodes and with separate nodes
_MOST_POOLS: Final = 8
_STEPS: Final = 20_000_000  # steps of the quick model


def choose_pools(needs: LevelNeeds, pools: Pools, shapes: Mapping[str, Shape]) -> dict[int, int]:
    """Return how many nodes of each used pool the works need if each work uses one pool.

    Pods might have to spread evenly. The result is an estimate that the full simulation has to
    prove.
    """
    few = _on_few_pools(needs, pools)
    sizes = SpreadSizes(few, shapes=shapes)
    solver = load_solver()
    starts = [
        None if solver is None else assign_single_pools(few, pools, solver),
        _cheapest(few, lambda work, pool: pools.costs[pool][0] / few.works[work].fills[pool]),
        _cheapest(few, lambda work, pool: pools.costs[pool][0] * few.share(work, pool)),
    ]
    groups = [None if start is None else _groups(start) for start in starts]
    best = find_assignment(pools, sizes, groups, _STEPS)
    nodes = Counter[int]()
    for group in best.groups:
        nodes[group.pool] += sizes.nodes(group) or 0
    return dict(sorted((+nodes).items()))


def _on_few_pools(needs: LevelNeeds, pools: Pools) -> LevelNeeds:
    """Return the needs on the pools on which each work costs the least."""
    works = []
    for at, work in enumerate(needs.works):
        costs = {pool: pools.costs[pool][0] for pool in work.needs}
        by_fill = sorted(costs, key=lambda pool: (costs[pool] / work.fills[pool], pool))
        by_share = sorted(costs, key=lambda pool: (costs[pool] * needs.share(at, pool), pool))
        kept = {*by_fill[:_MOST_POOLS], *by_share[:_MOST_POOLS]}
        works.append(
            replace(
                work,
                needs={pool: need for pool, need in work.needs.items() if pool in kept},
                fills={pool: fill for pool, fill in work.fills.items() if pool in kept},
            )
        )
    return replace(needs, works=tuple(works))


def _cheapest(needs: LevelNeeds, price: Callable[[int, int], float]) -> dict[int, int]:
    return {
        at: min(work.needs, key=lambda pool: (price(at, pool), pool))
        for at, work in enumerate(needs.works)
    }


def _groups(chosen: Mapping[int, int]) -> list[WorkloadGroup]:
    """Return a group for each pool."""
    works: dict[int, set[int]] = {}
    for work, pool in chosen.items():
        works.setdefault(pool, set()).add(work)
    return [WorkloadGroup(pool, frozenset(inside)) for pool, inside in sorted(works.items())]
