"""Pods whose spread rule counts nodes on which they can't run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.allocation.node.filters import reject_for_good
from dra_planner.allocation.node.pod_rules import PodView, spread_selects
from dra_planner.model import PodSet, TopologySpreadConstraint, Workload
from dra_planner.offers import Offer
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.plan.blockers.topology.same_node import lacks_on_one_node
from dra_planner.plan.blockers.topology.unmet_affinity import select_pools
from dra_planner.wording import counted

_HOST: Final = "kubernetes.io/hostname"


def find_idle_domains(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads with claims whose topology spread counts the system nodes.

    The system nodes never run their pods, so no other node runs more than `maxSkew` of them.
    Source: kubernetes/kubernetes:pkg/scheduler/framework/plugins/podtopologyspread/{common,
    filtering}.go@v1.36.3 (matchNodeInclusionPolicies, calPreFilterState).
    """
    system = situation.system
    pools = [offer for offer in situation.offers if offer.slices]
    if system is None or not pools:
        return
    for workload in situation.manifests.workloads:
        for pod_set in workload.pod_sets:
            spec = pod_set.template.spec
            if pod_set.per_node or not spec.resource_claims:
                continue
            for spread in spec.topology_spread:
                most = spread.max_skew
                more = [(workload, pod_set, most + 1)]
                if (
                    pod_set.figures.steady > most
                    and _counts(workload, pod_set, spread, system)
                    and not lacks_on_one_node(situation, more)
                ):
                    names = [
                        each.name for each in pools if reject_for_good(spec, each.node) is None
                    ]
                    yield fact(
                        f"{workload.ref} spreads its pods over nodes (maxSkew {most}), and the "
                        "scheduler also counts the system nodes, on which they can't run. Unless "
                        "a guard or a node selector restricts the pods to nodes with devices, "
                        f"each node runs at most {counted(most, 'pod')}",
                        select_pools(names) if names else "",
                        workload.ref,
                        place=workload.place,
                    )


def _counts(
    workload: Workload, pod_set: PodSet, spread: TopologySpreadConstraint, system: Offer
) -> bool:
    """Return whether a required spread over nodes counts the system nodes, and the pods
    themselves.
    """
    if spread.when_unsatisfiable != "DoNotSchedule" or spread.topology_key != _HOST:
        return False
    view = PodView(workload.meta.namespace, pod_set.template.labels)
    if not spread_selects(spread, view, view):
        return False
    misfit = reject_for_good(pod_set.template.spec, system.node)
    if misfit is None:
        return True
    if misfit.filter == "taint":
        return spread.node_taints_policy == "Ignore"
    return spread.node_affinity_policy == "Ignore"
