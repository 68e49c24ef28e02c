"""Works on whole pools: the integer program against every assignment."""

from __future__ import annotations

import random
from itertools import product

import pytest

from dra_planner.placement import Pools
from dra_planner.placement.single_pools import assign_single_pools
from dra_planner.sizing import LevelNeeds, WorkNeeds

highspy = pytest.importorskip("highspy")


def draw(seed: int) -> tuple[LevelNeeds, Pools]:
    rng = random.Random(seed)
    capacities = ((4, 40), (8, 64))
    works = tuple(
        WorkNeeds(
            shapes=(f"w{at}",),
            count=rng.randint(1, 9),
            fills={0: 1, 1: 1},
            needs=dict.fromkeys((0, 1), (gpus, cpu)),
        )
        for at in range(5)
        for gpus, cpu in [(rng.choice((1, 2, 4)), rng.randint(1, 12))]
    )
    needs = LevelNeeds(
        pools=("a", "b"),
        works=works,
        capacities=capacities,
        devices=((True, False), (True, False)),
    )
    pools = Pools(
        names=("a", "b"),
        costs=((rng.randint(40, 60),), (100,)),
        least=(0, 0),
        most=(100, 100),
    )
    return needs, pools


def cost(needs: LevelNeeds, pools: Pools, chosen: tuple[int, ...]) -> float:
    """The price of parts of nodes: rows are used up, and works that can't share a node don't."""
    total = 0.0
    for pool, capacities in enumerate(needs.capacities):
        works = [work for work, where in zip(needs.works, chosen, strict=True) if where == pool]
        nodes = [
            max(
                sum(work.count * work.needs[pool][row] / capacity for work in works),
                sum(work.count for work in works if 2 * work.needs[pool][row] > capacity),
            )
            for row, capacity in enumerate(capacities)
        ]
        total += max(nodes) * pools.costs[pool][0]
    return total


@pytest.mark.parametrize("seed", range(12))
def test_no_other_assignment_costs_less(seed: int) -> None:
    needs, pools = draw(seed)
    chosen = assign_single_pools(needs, pools, highspy)
    assert chosen is not None
    found = cost(needs, pools, tuple(chosen[at] for at in range(len(needs.works))))
    best = min(cost(needs, pools, each) for each in product((0, 1), repeat=len(needs.works)))
    assert found <= best * 1.01
