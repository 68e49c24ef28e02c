"""What a plan changes of the saved one: nodes, money, and because of which workload."""

from __future__ import annotations

from decimal import Decimal

from plan_builders import deployment, fleet, plan_of

from dra_planner.plan import plan_file
from dra_planner.plan.saved.difference import compare_plans

L4 = ("g6.2xlarge", {"min": 0, "max": 9})


def test_the_same_plan_differs_in_nothing() -> None:
    plan = plan_of(fleet(L4), deployment("a", 2))
    difference = compare_plans(plan_file(plan), plan)
    assert difference.is_empty
    assert (difference.nodes, difference.hourly_usd) == (0, Decimal(0))


def test_more_replicas_and_a_new_workload_are_the_cause() -> None:
    saved = plan_file(plan_of(fleet(L4), deployment("a", 2), deployment("gone", 1)))
    plan = plan_of(fleet(L4), deployment("a", 4), deployment("b", 1))
    difference = compare_plans(saved, plan)
    (pool,) = difference.pools
    assert (pool.saved, pool.now) == (3, 5)
    assert pool.because == (
        "Deployment default/a: 2 → 4 pods",
        "new: Deployment default/b, 1 pod",
        "removed: Deployment default/gone",
    )
    price = plan.pools[0].hourly_usd
    assert price is not None
    assert pool.hourly_usd == difference.hourly_usd == 2 * price


def test_pools_come_and_go() -> None:
    saved = plan_file(plan_of(fleet(("g6.2xlarge", 2)), deployment("a", 2)))
    plan = plan_of(fleet(("g6e.xlarge", 2)), deployment("a", 2))
    difference = compare_plans(saved, plan)
    assert [(each.pool, each.saved, each.now, each.because) for each in difference.pools] == [
        ("g6e-xlarge", 0, 2, ("new pool",)),
        ("g6-2xlarge", 2, 0, ("no longer in the fleet",)),
    ]
    assert difference.nodes == 0
    assert difference.hourly_usd is None  # what a node of the old pool costs now is not asked
