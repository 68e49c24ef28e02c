"""The simulated counts of random fleets are the cheapest there are: all cheaper ones are simulated
here, one by one.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from random_instances import instance
from replays import planned

from dra_planner.plan import Plan
from dra_planner.plan.judgement.simulated_fleet import system_nodes
from dra_planner.simulation import Simulator, predicted_nodes

FEWER = {39: 0, 43: 0, 59: 1, 84: 1, 123: 0}
"""By seed: a pool of which fewer nodes are built than the packing has, since another pool has
more.
"""
CHEAPER = {76: 0, 114: 1, 180: 0}
"""By seed: a pool whose nodes cost less together than the one more of another that pending pods
would go to first.
"""


@cache
def planned_of(seed: int) -> Plan:
    return planned(instance(seed, rules=False))


def price(plan: Plan, counts: tuple[int, ...]) -> float:
    return float(
        sum(nodes * (pool.hourly_usd or 0) for pool, nodes in zip(plan.pools, counts, strict=True))
    )


def places_everything(plan: Plan, counts: tuple[int, ...]) -> bool:
    judged, found = plan.judgement, plan.judgement.simulated
    beside = system_nodes(plan.fleet)
    assert found is not None
    assert beside is not None
    nodes = predicted_nodes(
        judged.offers, dict(zip((pool.name for pool in plan.pools), counts, strict=True))
    )
    around = beside.nodes(judged.offers, judged.demand)
    simulator = Simulator.of(judged.demand, [*around, *nodes], judged.classes, judged.features)
    return all(simulator.run(order).places_everything for order in found.orders)


@pytest.mark.long
@pytest.mark.parametrize("seed", [*FEWER, *CHEAPER])
def test_no_cheaper_counts_place_everything(seed: int):
    plan = planned_of(seed)
    found = plan.judgement.simulated
    assert found is not None
    assert found.counts is not None
    assert found.cheapest
    assert [offer.name for offer in plan.judgement.offers] == [pool.name for pool in plan.pools]
    built = tuple(found.counts[pool.name] for pool in plan.pools)
    assert places_everything(plan, built)
    packed = price(plan, tuple(pool.packing for pool in plan.pools))
    every = list(product(*(range(pool.maximum + 1) for pool in plan.pools)))
    cheaper = [each for each in every if packed <= price(plan, each) < price(plan, built)]
    assert cheaper
    assert not [each for each in cheaper if places_everything(plan, each)]


@pytest.mark.parametrize(("seed", "pool"), FEWER.items())
def test_pool_may_have_fewer_nodes_than_its_packing(seed: int, pool: int):
    made = planned_of(seed).pools[pool]
    assert made.simulated is not None
    assert made.simulated < made.packing


@pytest.mark.parametrize(("seed", "pool"), CHEAPER.items())
def test_nodes_of_one_pool_may_replace_more_expensive_ones(seed: int, pool: int):
    made = planned_of(seed).pools[pool]
    assert made.simulated is not None
    assert made.simulated > made.packing
