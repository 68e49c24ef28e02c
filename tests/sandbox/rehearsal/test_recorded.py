"""Recorded decisions of real schedulers for random fleets and workloads, compared with the current
plan and simulation.

`conformance/scheduler/run.py --record` recorded the cases: each in three orders, workload by
workload.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import RELEASES, parse_version
from dra_planner.sources import Source
from dra_sandbox.rehearsal import RehearsedWorkload, WorkloadOrder
from dra_sandbox.rehearsal.cluster import cluster_of
from dra_sandbox.rehearsal.differences import deviation, enough_runs
from dra_sandbox.rehearsal.outcome import PodOutcome
from dra_sandbox.rehearsal.simulation import Simulation
from dra_sandbox.rehearsal.workloads import made_by, read_workloads

CASES = sorted((Path(__file__).parent / "recorded").glob("*.yaml"))
Json = dict[str, Any]
OF_CHANCE = {"tie-between-nodes", "replaced-during-preemption"}
"""Reasons that depend on the scheduler's random choices, or on the moments at which pods end."""


def load(path: Path) -> Json:
    case: Json = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return case


def _workload(name: str, row: Json) -> RehearsedWorkload:
    ref = WorkloadRef(*name.split("/"))
    nodes = [node for node, pods in row["nodes"].items() for _ in range(pods)]
    pods = [
        PodOutcome(f"{name}-{index}", node, "", is_judged=True) for index, node in enumerate(nodes)
    ]
    pods += [
        PodOutcome(f"{name}-pending-{index}", "", "no", is_judged=True)
        for index in range(row["pending"])
    ]
    return RehearsedWorkload(ref, tuple(pods), row["pools"], row.get("refused", ""))


def simulate(
    case: Json, plan: Plan, sources: tuple[Source, ...], order: WorkloadOrder
) -> Simulation:
    """Simulate on the recorded nodes, even if the plan would now have other counts."""
    assert plan.manifests is not None
    assert plan.fleet is not None
    workloads = read_workloads(sources, plan.manifests)
    cluster = cluster_of(plan.fleet, plan.offers, plan.classes, case["nodes"])
    arrivals = order.arrange(workloads.arrivals)
    return Simulation.of(
        cluster.objects,
        [*workloads.first, *(each for arrival in workloads.arrivals for each in arrival.objects)],
        kubernetes=plan.kubernetes,
        refs=[arrival.workload for arrival in arrivals],
        made_by=made_by(arrivals),
        pool_of=cluster.pool_of,
        one_by_one=True,
    )


def test_cases_cover_every_minor_version_and_feature() -> None:
    cases = [load(path) for path in CASES]
    assert {case["feature"] for case in cases} >= {
        "plain",
        "mig",
        "shared",
        "aligned",
        "extended",
        "rules",
    }
    assert {parse_version(case["fleet"]["kubernetes"]) for case in cases} == set(RELEASES)


@pytest.mark.long
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_plan_and_simulation_match_the_recorded_scheduler(path: Path) -> None:
    """Pods are on the simulated nodes, except for ties, and on no pool that the plan rules out."""
    case = load(path)
    sources = (Source("workloads.yaml", yaml.safe_dump_all(case["workloads"], sort_keys=False)),)
    plan = make_plan(PlanRequest(sources=sources, fleet=read_fleet(case["fleet"])))
    forbidden = {
        each.workload: {pool for pool, verdict in each.fits if verdict == "does-not-fit"}
        for each in plan.workloads
    }
    for recorded in case["rehearsals"]:
        simulation = simulate(
            case, plan, sources, WorkloadOrder.parse(recorded["order"].partition(",")[0])
        )
        outcomes = [_workload(name, row) for name, row in recorded["outcome"].items()]
        runs = enough_runs(simulation.runs(), outcomes, one_by_one=True)
        for each in outcomes:
            away = deviation(each, runs, one_by_one=True)
            assert away is None or away.reason in OF_CHANCE, (
                recorded["order"],
                each.workload,
                away,
            )
            assert not forbidden.get(each.workload, set()) & {*each.pools}, (
                recorded["order"],
                each.workload,
            )
