"""Simulates a cluster in which pods preempt others, and returns the differences from the recorded
cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from dra_planner.plan import PlanRequest, read_cluster
from dra_planner.plan.cluster.snapshot_plan import ReadCluster
from dra_planner.simulation import SETTLED, ArrivalOrder, Simulator, observed_nodes
from dra_planner.simulation.simulator import STEPS, Run
from dra_planner.sources import Source

Json = dict[str, Any]
SEEDS = 64


class Became(Struct, frozen=True):
    """The result for a cluster: the nodes of the new pods ("" for pending pods), the preempted pods
    by workload, the remaining pods by workload and node, and the number of disruptions that each
    budget allows.
    """

    came: Mapping[str, str]
    victims: Mapping[str, int]
    running: Mapping[str, Mapping[str, int]]
    left: Mapping[str, int]

    def document(self) -> Json:
        return to_builtins(self)


def read(case: Json) -> ReadCluster:
    return read_cluster(
        PlanRequest(
            sources=(Source("arrivals", yaml.safe_dump_all(case["arrivals"])),),
            observed=(Source("cluster", yaml.safe_dump_all(case["cluster"])),),
            kubernetes=case["kubernetes"].rpartition(".")[0],
        )
    )


def simulator_of(cluster: ReadCluster, *, counted: bool = True) -> Simulator:
    """Return the simulator of a case. If `counted` is set, use the budgets' status from the
    cluster.
    """
    demand = cluster.demand
    if not counted:
        demand = replace(
            demand, budgets=tuple(replace(each, status=None) for each in demand.budgets)
        )
    nodes = observed_nodes(cluster.offers)
    return Simulator.of(demand, nodes, cluster.manifests.classes, cluster.features)


def simulated(
    simulator: Simulator, case: Json, order: ArrivalOrder = SETTLED, *, lags: bool = False
) -> Became:
    """Return what becomes of a cluster in one order. Its seed breaks ties, and with `lags`, it also
    decides when pods end.
    """
    run = Run(simulator.setting, order, STEPS, lags=lags)
    for phase in order.phases(simulator.setting.documents()):
        run.start(phase)
    outcome = run.outcome()
    names = [each["metadata"]["name"] for each in case["arrivals"]]
    running: dict[str, Counter[str]] = {}
    for name, placed in outcome.cluster.pods.items():
        running.setdefault(_app(name.name), Counter())[outcome.nodes[placed.node].name] += 1
    counts = zip(simulator.setting.budgets, run.allowances(), strict=True)
    return Became(
        came={name: next(iter(running.get(name, {})), "") for name in sorted(names)},
        victims=dict(sorted(Counter(_app(name.name) for name in outcome.preempted).items())),
        running={app: dict(sorted(nodes.items())) for app, nodes in sorted(running.items())},
        left={budget.own.meta.name: allowance.pods for budget, allowance in counts},
    )


def counted_before(case: Json) -> Iterator[tuple[str, int, int]]:
    """Yield the disruptions that each budget allows before new pods arrive: the budget, the
    cluster's number, and our number.
    """
    cluster = read(case)
    setting = simulator_of(cluster, counted=False).setting
    run = Run(setting, SETTLED, STEPS)
    names = {each["metadata"]["name"] for each in case["arrivals"]}
    for phase in SETTLED.phases(setting.documents()):
        if not names & {controller.workload.name for controller in phase}:
            run.start(phase)
    for budget, allowance in zip(setting.budgets, run.allowances(), strict=True):
        yield (
            budget.own.meta.name,
            cluster.snapshot.budgets[budget.own.key].status.allowed,
            allowance.pods,
        )


def differences(case: Json) -> tuple[list[str], int]:
    """Return the results that the simulation never produces, as lines, and the number of tried ways
    to break ties and to terminate pods.
    """
    became, simulator = Became(**case["became"]), simulator_of(read(case))
    orders = [ArrivalOrder("settled", seed) for seed in range(1, SEEDS + 1)]
    tries = [(SETTLED, False), *((order, lags) for lags in (False, True) for order in orders)]
    first: Became | None = None
    for number, (order, lags) in enumerate(tries, 1):
        found = simulated(simulator, case, order, lags=lags)
        found = replace(
            found, left={name: left for name, left in found.left.items() if name in became.left}
        )
        shown = replace(
            became, left={name: left for name, left in became.left.items() if name in found.left}
        )
        if found == shown:
            return [], number
        first = first or found
    return [
        f"{name}: {getattr(became, name)}, simulated {getattr(first, name)}"
        for name in became.document()
        if getattr(became, name) != getattr(first, name)
    ], len(tries)


def _app(pod: str) -> str:
    """Return the workload of a pod from the pod's name. Workload names in these clusters don't
    contain "-".
    """
    return pod.partition("-")[0]
