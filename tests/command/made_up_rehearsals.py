"""Invented results of rehearsals, without a control plane."""

from __future__ import annotations

import yaml

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source
from dra_sandbox.rehearsal import (
    Comparison,
    OutcomeDifference,
    PoolOutcome,
    RehearsalOutcome,
    RehearsalScenario,
    RehearsedWorkload,
    ScenarioOutcome,
    ScenarioRow,
    SimulatedWorkload,
)
from dra_sandbox.rehearsal.comparison import compare
from dra_sandbox.rehearsal.outcome import HeldDevice, PodOutcome
from gpu_manifests import deployment, template

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
network: {zones: [us-east-1a]}
systemPool: {machine: m7i.large, count: 1}
drivers:
  nvidia: {version: 25.8.1}
pools:
  - {name: l4, machine: g6.2xlarge, count: {min: 0, max: 2}}
  - {name: a10g, machine: g5.12xlarge, count: {min: 0, max: 1}}
"""

WORDS = (
    "0/4 nodes are available: 3 cannot allocate all claims, 1 node(s) had untolerated taint "
    "{nvidia.com/gpu: present}."
)


def plan_of(*documents: str, fleet: Fleet | None = None) -> Plan:
    sources = (Source("workloads.yaml", "---\n".join((template(), *documents))),)
    fleet = read_fleet(yaml.safe_load(FLEET)) if fleet is None else fleet
    return make_plan(PlanRequest(sources=sources, fleet=fleet))


def ref(name: str) -> WorkloadRef:
    return WorkloadRef("Deployment", "default", name)


def outcome_of(name: str, pending: int = 0, words: str = WORDS, **pools: int) -> RehearsedWorkload:
    """Return a workload with this number of pods in each pool: one on each node, with the node's
    first GPU.
    """
    pods = [
        PodOutcome(
            f"{name}-{pool}-{index}",
            f"{pool}-{index}",
            "",
            is_judged=True,
            devices=(
                HeldDevice(
                    f"{name}-{index}-gpu", "gpu", "gpu.nvidia.com", f"{pool}-{index}", "gpu-0"
                ),
            ),
        )
        for pool, count in pools.items()
        for index in range(count)
    ]
    pods += [
        PodOutcome(f"{name}-pending-{index}", "", words, is_judged=True) for index in range(pending)
    ]
    return RehearsedWorkload(ref(name), tuple(pods), pools)


def simulated(**pools: dict[str, int]) -> dict[WorkloadRef, SimulatedWorkload]:
    return {ref(name): SimulatedWorkload(count) for name, count in pools.items()}


def rehearsal() -> Comparison:
    """One workload as planned, one in another pool, and one with a pending pod. Then a node is
    lost.
    """
    plan = plan_of(deployment("web", 2), deployment("batch", 4), deployment("last", 1))
    rows = (outcome_of("web", l4=2), outcome_of("batch", a10g=4), outcome_of("last", pending=1))
    pools = (
        PoolOutcome("l4", 2, 2, 2, 2, 2),
        PoolOutcome("a10g", 1, 1, 4, 4, 4),
        PoolOutcome("system", 1, 0, 0, 0, 0),
    )
    outcome = RehearsalOutcome(rows, pools, decided=True)
    runs = [simulated(web={"l4": 2}, batch={"a10g": 4}, last={})]
    lost = outcome_of("web", pending=1, l4=1)
    after = (
        ScenarioRow(2, 2, lost, SimulatedWorkload({"l4": 1})),
        ScenarioRow(
            4,
            4,
            outcome_of("batch", a10g=4),
            SimulatedWorkload({"a10g": 3, "l4": 1}),
            OutcomeDifference("arrived-together"),
        ),
        ScenarioRow(0, 1, outcome_of("last", pending=1), SimulatedWorkload({})),
    )
    return Comparison(
        plan=plan,
        outcome=outcome,
        rows=compare(plan, outcome, {}, runs, one_by_one=True),
        order="document, one by one",
        release="1.36.3",
        notes=(
            "these attributes have invented values, because they are known only at run time: uuid",
        ),
        seconds=2.34,
        scenarios=(
            ScenarioOutcome(
                RehearsalScenario("node-lost", "l4-1"), "node l4-1 fails", after, True, 1.5
            ),
        ),
    )
