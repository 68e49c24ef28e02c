"""Differences between a plan and the saved plan: nodes, cost, and the workloads that cause them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import plan_file
from dra_planner.plan.saved.difference import compare_plans

MACHINES = ("g6.2xlarge", "g6e.xlarge")
L4 = ("g6.2xlarge", {"min": 0, "max": 9})


def test_equal_plans_have_no_difference() -> None:
    plan = plan_of(fleet(L4), deployment("a", 2))
    difference = compare_plans(plan_file(plan), plan_file(plan))
    assert difference.is_empty
    assert difference.is_same
    assert difference.regression == "fits"
    assert (difference.nodes, difference.hourly_usd) == (0, Decimal(0))


def test_more_replicas_and_new_workloads_are_reported_as_causes() -> None:
    saved = plan_file(plan_of(fleet(L4), deployment("a", 2), deployment("gone", 1)))
    plan = plan_of(fleet(L4), deployment("a", 4), deployment("b", 1))
    difference = compare_plans(saved, plan_file(plan))
    (pool,) = difference.pools
    assert (pool.before, pool.after) == (3, 5)
    assert pool.because == (
        "Deployment default/a: 2 → 4 pods",
        "new: Deployment default/b, 1 pod",
        "removed: Deployment default/gone",
    )
    price = plan.pools[0].hourly_usd
    assert price is not None
    assert pool.hourly_usd == difference.hourly_usd == 2 * price


def test_added_and_removed_pools_are_reported() -> None:
    saved = plan_file(plan_of(fleet(("g6.2xlarge", 2)), deployment("a", 2)))
    plan = plan_of(fleet(("g6e.xlarge", 2)), deployment("a", 2))
    difference = compare_plans(saved, plan_file(plan))
    assert [(each.pool, each.before, each.after, each.because) for each in difference.pools] == [
        ("g6e-xlarge", 0, 2, ("new pool",)),
        ("g6-2xlarge", 2, 0, ("no longer in the fleet",)),
    ]
    assert difference.nodes == 0
    prices = [Decimal(str(each.hourly_usd)) for each in difference.pools]
    assert prices[0] > 0 > prices[1]
    assert difference.hourly_usd == sum(prices)


def test_new_machine_type_has_its_own_price() -> None:
    def of(machine: str) -> Fleet:
        document = fleet(("g6.2xlarge", 2)).document()
        document["pools"][0]["machine"] = machine
        return read_fleet(document)

    before, after = (plan_of(of(machine), deployment("a", 2)) for machine in MACHINES)
    difference = compare_plans(plan_file(before), plan_file(after))
    (pool,) = difference.pools
    assert (pool.before, pool.after, pool.because) == (
        2,
        2,
        (
            "g6.2xlarge → g6e.xlarge",
            "replaces the pool and its pods",
        ),
    )
    old, new = (plan.pools[0].hourly_usd for plan in (before, after))
    assert old is not None
    assert new is not None
    assert pool.hourly_usd == 2 * (new - old) != 0
    assert [(each.path, each.before, each.after) for each in difference.settings] == [
        ("pools.g6-2xlarge.machine", *MACHINES)
    ]


@pytest.mark.parametrize(
    ("most", "regression", "worse"),
    [(1, "does-not-fit", ["Deployment default/a"]), (2, "fits", []), (9, "fits", [])],
)
def test_change_is_a_regression_if_a_workload_no_longer_fits(
    most: int, regression: str, worse: list[str]
) -> None:
    before = plan_file(plan_of(fleet(("g6.2xlarge", {"max": 2})), deployment("a", 2)))
    after = plan_file(plan_of(fleet(("g6.2xlarge", {"max": most})), deployment("a", 2)))
    difference = compare_plans(before, after)
    assert difference.regression == regression
    assert [str(each) for each in difference.worse] == worse
    assert compare_plans(after, after).regression == "fits"


def test_change_is_a_regression_if_a_rollout_no_longer_finishes() -> None:
    full, roomy = (
        plan_file(plan_of(fleet(("g6.2xlarge", {"max": most})), deployment("a", 2)))
        for most in (2, 3)
    )
    assert compare_plans(roomy, full).regression == "does-not-fit"
    assert compare_plans(full, roomy).regression == "fits"


def test_everything_is_new_without_an_older_plan() -> None:
    plan = plan_file(plan_of(fleet(L4), deployment("a", 2)))
    difference = compare_plans(None, plan)
    assert (difference.verdict_before, difference.nodes, difference.settings) == (None, 2, ())
    assert [each.verdict_before for each in difference.workloads] == [None]
    assert not difference.is_same


def test_unknown_price_stays_unknown() -> None:
    document = fleet(("g6.2xlarge", {"max": 4})).document()
    document["pools"][0]["capacity"] = {"capacityBlock": "cr-0123456789abcdef0"}
    block = read_fleet(document)
    before = plan_file(plan_of(block, deployment("a", 1)))
    assert compare_plans(before, before).hourly_usd == 0
    after = plan_file(plan_of(block, deployment("a", 2)))
    assert compare_plans(before, after).hourly_usd is None


def test_pods_that_no_longer_fit_cause_fewer_nodes() -> None:
    saved = plan_file(plan_of(fleet(L4), deployment("a", 2)))
    plan = plan_of(fleet(L4), deployment("a", 2, memory="900Gi"))
    (pool,) = compare_plans(saved, plan_file(plan)).pools
    assert (pool.before, pool.after) == (2, 0)
    assert pool.because == ("Deployment default/a: fits → does not fit",)


def test_pool_setting_is_reported_as_the_cause_of_more_nodes() -> None:
    saved = plan_file(plan_of(fleet(L4), deployment("a", 2)))
    plan = plan_of(fleet(("g6.2xlarge", {"min": 3, "max": 9})), deployment("a", 2))
    (pool,) = compare_plans(saved, plan_file(plan)).pools
    assert (pool.before, pool.after) == (2, 3)
    assert pool.because == ("count.min: 0 → 3",)


def test_pods_that_move_to_another_pool_are_reported_as_the_cause() -> None:
    def of(cheap: int) -> Fleet:
        return fleet(("g6.2xlarge", {"max": cheap}), ("g6e.xlarge", {"max": 4}))

    saved, plan = (plan_file(plan_of(of(most), deployment("a", 2))) for most in (2, 1))
    first, second = compare_plans(saved, plan).pools
    assert (first.before, first.after, first.because) == (2, 1, ("count.max: 2 → 1",))
    assert (second.before, second.after) == (0, 1)
    assert second.because == ("Deployment default/a: placed on other nodes",)
