"""Capacity curves against plans of every single count."""

from __future__ import annotations

import pytest
from portfolio_builders import FLEET, cells, deployment, future, portfolio

from dra_planner.fleet import read_document, read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.portfolio.curves import Curve
from dra_planner.sources import Source


def curve_of(workloads: str, most: int, simulate: object = "off") -> Curve:
    given = portfolio(
        ask={"simulate": simulate, "curves": {"workloads": ["default/web"], "most": most}}
    )
    answer = cells(given, workloads).curves(future(given, "as-is"))
    (curve,) = answer.curves  # type: ignore[union-attr]
    return curve


def plan_of(workloads: str, steps: int = 0) -> Plan:
    fleet = read_fleet(read_document(FLEET))
    return make_plan(
        PlanRequest(sources=(Source("work.yaml", workloads),), fleet=fleet, steps=steps)
    )


@pytest.mark.long
def test_curve_matches_the_plans_of_every_count() -> None:
    """6 nodes with one GPU and 3 nodes with four GPUs: 18 GPUs, of which web uses 3 and train uses
    4.
    """
    other = deployment("train", 1, gpus=4)
    curve = curve_of(deployment("web", 3) + other, 20)
    plans = [plan_of(deployment("web", 3 + more) + other) for more in range(21)]
    placed = [not any(each.pending for each in plan.workloads) for plan in plans]
    assert curve.placed_up_to == placed.index(False) - 1 == 11
    verdicts = [plan.running for plan in plans]
    assert curve.refused_from == verdicts.index("does-not-fit") == 12
    nodes = [
        tuple((pool.name, pool.packing) for pool in plan.pools)
        for plan in plans[: curve.placed_up_to + 1]
    ]
    breaks = [0, *(at for at in range(1, len(nodes)) if nodes[at] != nodes[at - 1])]
    assert [step.units for step in curve.steps] == breaks
    for step in curve.steps:
        assert step.nodes == nodes[step.units]
        assert step.hourly_usd == plans[step.units].judgement.sizing.hourly_plan
        assert step.nodes_bound <= step.total


def test_curve_has_a_simulated_count() -> None:
    curve = curve_of(deployment("web", 3), 20, simulate=0.2)
    assert curve.placed_up_to is not None
    assert curve.simulated_up_to is not None
    assert curve.simulated_up_to <= curve.placed_up_to
    assert plan_of(deployment("web", 3 + curve.simulated_up_to), 20_000).running == "fits"


def test_workload_that_does_not_fit_cannot_grow() -> None:
    curve = curve_of(deployment("web", 30), 4)
    assert (curve.placed_up_to, curve.refused_from, curve.steps) == (None, 0, ())


def test_limit_of_the_curve_is_reported() -> None:
    curve = curve_of(deployment("web", 1), 2)
    assert (curve.placed_up_to, curve.refused_from, curve.most) == (2, None, 2)
