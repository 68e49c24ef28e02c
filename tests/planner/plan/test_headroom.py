"""Capacity that a fleet keeps free for additional pods of a workload."""

from __future__ import annotations

from typing import Any

from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan, judge_document, plan_file


def keeping(where: Fleet, *rows: dict[str, Any]) -> Fleet:
    return read_fleet({**where.document(), "headroom": list(rows)})


def built(plan: Plan) -> dict[str, int]:
    return {pool.name: pool.nodes.desired for pool in plan.pools}


L4 = fleet(("g6.2xlarge", {"max": 4}))
WEB = {"kind": "Deployment", "name": "web", "pods": 2}


def test_headroom_for_a_workload_is_built_and_reported() -> None:
    assert built(plan_of(L4, deployment())) == {"g6-2xlarge": 1}
    plan = plan_of(keeping(L4, WEB), deployment())
    assert (plan.verdict, built(plan)) == ("fits", {"g6-2xlarge": 3})
    room = plan.workload("Headroom", "default", "web-headroom")
    assert (room.placed, room.figures.floor, room.figures.peak) == (2, 2, 2)
    assert plan.workload("Deployment", "default", "web").placed == 1
    assert [pool.simulated for pool in plan.pools] == [3]


def test_headroom_uses_free_capacity_of_nodes_first() -> None:
    where = keeping(fleet(("p5.48xlarge", {"max": 4})), {**WEB, "pods": 7})
    assert built(plan_of(where, deployment())) == {"p5-48xlarge": 1}


def test_headroom_that_does_not_fit_is_reported_separately() -> None:
    plan = plan_of(keeping(L4, {**WEB, "pods": 4}), deployment())
    assert plan.verdict == "does-not-fit"
    assert plan.workload("Deployment", "default", "web").verdicts["steady"] == "fits"
    assert plan.workload("Headroom", "default", "web-headroom").pending == 1


def test_headroom_for_a_missing_workload_is_a_warning() -> None:
    plan = plan_of(keeping(L4, {**WEB, "kind": "Job"}), deployment())
    assert (plan.verdict, built(plan)) == ("fits", {"g6-2xlarge": 1})
    (finding,) = [each for each in plan.diagnostics if each.code == "headroom-not-kept"]
    assert finding.severity == "warning"
    assert (
        finding.message == "the plan doesn't keep capacity free for Job default/web, because this "
        "workload isn't in the manifests"
    )
    assert finding.fix == "use Deployment default/web instead"
    assert not [
        each
        for each in plan_of(keeping(L4, WEB), deployment()).diagnostics
        if each.code == finding.code
    ]


def test_plan_file_contains_the_headroom_once() -> None:
    plan = plan_of(keeping(L4, WEB), deployment())
    again = judge_document(plan_file(plan))
    assert again.workload("Headroom", "default", "web-headroom").placed == 2
    assert [pool.packing for pool in again.pools] == [3]
