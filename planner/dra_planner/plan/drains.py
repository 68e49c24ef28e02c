"""Nodes of a snapshot that cannot be drained: a disruption budget lets no pod on them go, however healthy all are.

Source of the behaviour: kubernetes/kubernetes:pkg/controller/disruption/disruption.go and
pkg/registry/core/pod/storage/eviction.go @v1.36.3: an eviction is refused while a budget of the pod allows none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dra_planner.allocation.node_selectors import labels_match
from dra_planner.errors import Diagnostic
from dra_planner.manifests import BoundPod
from dra_planner.model import DisruptionBudget
from dra_planner.plan.observed import ReadCluster
from dra_planner.simulation.budgets import desired_healthy
from dra_planner.wording import counted


def find_blocked_drains(cluster: ReadCluster, groups: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a warning for each budget that lets none of its pods go; `groups` names the pool of each node.

    Counted is what the cluster is to have of these pods; where it says nothing, the pods that are on nodes.
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
        told = [f'{counted(count, "node")} of pool "{pool}"' for pool, count in sorted(pools.items())]
        where = " and ".join([*told, *([counted(others, "node") + " of no pool of the fleet"] if others else [])])
        said = f"maxUnavailable: {budget.most}" if budget.most is not None else f"minAvailable: {budget.least}"
        yield Diagnostic(
            "warning",
            "drain-blocked",
            f"PodDisruptionBudget {budget.key} lets none of its {counted(len(pods), 'pod')} go ({said}): {where} "
            "cannot be drained, and an upgrade or replacement of them waits",
            budget.meta.place,
            "set maxUnavailable to 1",
        )


def _covers(budget: DisruptionBudget, pod: BoundPod) -> bool:
    selector, labels = budget.selector, pod.meta.labels
    return bool(selector.requirements and labels) and (
        budget.meta.namespace == pod.meta.namespace and labels_match(selector, labels)
    )
