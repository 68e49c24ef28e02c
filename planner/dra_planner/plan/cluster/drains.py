"""Nodes that can't be drained because a budget doesn't allow evictions, and the spare node that
draining needs.

Source of the behavior: kubernetes/kubernetes:pkg/controller/disruption/disruption.go and
pkg/registry/core/pod/storage/eviction.go @v1.36.3: an eviction is rejected while a budget of the
pod allows no disruptions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests import BoundPod, Manifests
from dra_planner.model import DemandLevel, DisruptionBudget, Workload
from dra_planner.plan.cluster.snapshot_plan import ReadCluster
from dra_planner.plan.model import PlannedPool
from dra_planner.simulation.workloads.disruption_budgets import desired_healthy, selects
from dra_planner.sizing import Sizing
from dra_planner.wording import counted, listed

_SERVERS: Final = ("Deployment", "LeaderWorkerSet", "ReplicaSet", "StatefulSet")
"""Excluded kinds, because the pods of a job are usually supposed to run until the job ends."""


def find_blocked_drains(cluster: ReadCluster, groups: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a warning for each budget that allows no disruption of its pods.

    `groups` is the pool of each node. The check uses the desired number of these pods, or the
    number of pods on nodes if the desired number is unknown.
    """
    for _, budget in sorted(cluster.snapshot.budgets.items()):
        pods = [pod for pod in cluster.snapshot.bound_pods if _covers(budget, pod)]
        if not pods:
            continue
        expected = budget.status.expected if budget.status is not None else len(pods)
        desired = desired_healthy(budget, expected)
        if desired is None or desired < max(expected, 1):
            continue
        nodes = {pod.node_name for pod in pods}
        pools = Counter(groups[node] for node in nodes if groups.get(node, node) != node)
        others = len(nodes) - pools.total()
        counts = [
            f'{counted(count, "node")} of pool "{pool}"' for pool, count in sorted(pools.items())
        ]
        where = listed(
            [*counts, *([counted(others, "node") + " outside the fleet's pools"] if others else [])]
        )
        yield Diagnostic(
            "warning",
            "drain-blocked",
            f"PodDisruptionBudget {budget.key} ({_limit(budget)}) allows no evictions of its "
            f"{counted(len(pods), 'pod')}, so {where} can't be drained. Upgrades and "
            "replacements of these nodes stall",
            budget.meta.place,
            "set the PodDisruptionBudget's maxUnavailable to 1",
        )


def _covers(budget: DisruptionBudget, pod: BoundPod) -> bool:
    return bool(pod.meta.labels) and selects(budget, pod.meta.namespace, pod.meta.labels)


def _limit(budget: DisruptionBudget) -> str:
    return (
        f"maxUnavailable: {budget.most}"
        if budget.most is not None
        else f"minAvailable: {budget.least}"
    )


def find_drain_faults(manifests: Manifests, sizing: Sizing) -> Iterator[Diagnostic]:
    """Yield a warning for each budget that allows no disruption of a workload, so its nodes can't
    be drained.

    Workloads without devices are excluded, because plans don't size them, so the fleet's nodes
    might not run their pods.
    """
    sized = {each.workload for each in sizing.workloads}
    for budget in manifests.budgets.values():
        mine = list(_selected(budget, manifests.workloads))
        pods = _pods(mine, sizing.level)
        servers = [each for each in mine if each.kind in _SERVERS and each.ref in sized]
        if pods and servers and not pods_that_may_go(budget, pods):
            yield Diagnostic(
                severity="warning",
                code="drain-blocked",
                message=f"PodDisruptionBudget {budget.meta.key} ({_limit(budget)}) allows no "
                f"evictions of {listed(str(each.ref) for each in servers)} "
                f"({counted(pods, 'pod')}), so you can't drain the nodes that run these pods, even "
                "after you add a node",
                place=budget.meta.place,
                fix="set the PodDisruptionBudget's maxUnavailable to 1",
            )


def drain_assumptions(
    manifests: Manifests, sizing: Sizing, pools: Sequence[PlannedPool], left: Mapping[str, int]
) -> Iterator[str]:
    """Yield a note for each pool whose pods have budgets, because draining needs one more node.

    The note also states whether the pool can have this node. `left` is the number of nodes that
    shared limits allow. Pools with spare nodes don't need another one.
    """
    placed = {
        size.workload: {name for name, pods in size.placements if pods} for size in sizing.workloads
    }
    budgets: dict[str, list[str]] = defaultdict(list)
    for budget in manifests.budgets.values():
        mine = list(_selected(budget, manifests.workloads))
        pods = _pods(mine, sizing.level)
        may_go = pods_that_may_go(budget, pods) if pods else 0
        for name in (
            sorted({name for each in mine for name in placed.get(each.ref, ())}) if may_go else ()
        ):
            budgets[name].append(
                f"PodDisruptionBudget {budget.meta.key} allows the eviction of {may_go} of "
                f"{counted(pods, 'pod')}"
            )
    for pool in pools:
        nodes = pool.nodes.desired
        if pool.name in budgets and nodes and not pool.spare:
            fewest = "the proven minimum" if nodes == pool.bound else "the lowest number found"
            room = "" if left.get(pool.name, 1) else ", which the pool's limits don't allow"
            yield (
                f"pool {pool.name}: its pods need {counted(nodes, 'node')} ({fewest}), so draining a "
                f"node requires one additional node{room}. {'; '.join(budgets[pool.name])} at once"
            )


def pods_that_may_go(budget: DisruptionBudget, pods: int) -> int:
    """Return how many of these running pods can be evicted at once."""
    desired = desired_healthy(budget, pods)
    return 0 if desired is None else max(0, pods - desired)


def _selected(budget: DisruptionBudget, workloads: Iterable[Workload]) -> Iterator[Workload]:
    for workload in workloads:
        templates = (pods.template for pods in workload.pod_sets if not pods.per_node)
        if any(selects(budget, workload.meta.namespace, template.labels) for template in templates):
            yield workload


def _pods(workloads: Iterable[Workload], level: DemandLevel) -> int:
    return sum(
        pods.figures.at(level) or 0
        for each in workloads
        for pods in each.pod_sets
        if not pods.per_node
    )
