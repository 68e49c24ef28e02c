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
from dra_planner.plan.blockers.topology.unmet_affinity import may_reach, select_pools
from dra_planner.wording import counted

_HOST: Final = "kubernetes.io/hostname"
_CODE: Final = "pod-cannot-be-scheduled"


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
                    yield _idle_domains(workload, pod_set, spread, situation)


def _idle_domains(
    workload: Workload,
    pod_set: PodSet,
    spread: TopologySpreadConstraint,
    situation: ClusterSituation,
) -> Blocker:
    """Return a certain cause if the pools have too few nodes for the pods, otherwise a fact."""
    pools = [offer for offer in situation.offers if offer.slices]
    spec, most = pod_set.template.spec, spread.max_skew
    names = [each.name for each in pools if reject_for_good(spec, each.node) is None]
    nodes = sum(each.count_max for each in pools if may_reach(spec, each))
    problem = (
        f"{workload.ref} spreads its pods over nodes (maxSkew {most}), and the scheduler also "
        "counts the system nodes, on which these pods can't run"
    )
    fix, pods = select_pools(names) if names else "", pod_set.figures.steady
    if pods <= most * nodes or not _stay_empty(workload, pod_set, spread, situation):
        return fact(
            f"{problem}. Unless a guard or a node selector restricts the pods to nodes with "
            f"devices, each node runs at most {counted(most, 'pod')}",
            fix,
            workload.ref,
            place=workload.place,
        )
    return Blocker(
        code=_CODE,
        message=f"{problem}, so each node runs at most {counted(most, 'pod')}. The pools have at "
        f"most {counted(nodes, 'node')}, so only {most * nodes} of {pods} pods can run",
        fix=fix,
        place=workload.place,
        workloads=(workload.ref,),
    )


def _stay_empty(
    workload: Workload,
    pod_set: PodSet,
    spread: TopologySpreadConstraint,
    situation: ClusterSituation,
) -> bool:
    """Return whether the system nodes never run pods that the spread rule counts."""
    manifests = situation.manifests
    if situation.is_guided or manifests.unread or manifests.unresolved or manifests.bound_pods:
        return False
    view = PodView(workload.meta.namespace, pod_set.template.labels)
    return not any(
        spread_selects(spread, view, PodView(other.meta.namespace, each.template.labels))
        for other in manifests.workloads
        for each in other.pod_sets
        if not each.template.spec.resource_claims
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
