"""All blockers of a situation, and their effect on a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from dra_planner.drivers import nvidia
from dra_planner.model import DEMAND_LEVELS, Figures, worst
from dra_planner.plan.blockers.admin_access import find_unknown_admin_access
from dra_planner.plan.blockers.blocker import (
    Blocker,
    ClusterSituation,
    cloud_of,
    is_guided,
    locate,
)
from dra_planner.plan.blockers.claim_quotas import find_denied_claims
from dra_planner.plan.blockers.containers import find_missing_requests
from dra_planner.plan.blockers.device_counts import find_oversized_claims
from dra_planner.plan.blockers.device_facts import find_facts
from dra_planner.plan.blockers.drivers.claim_uses import find_unprepared_uses
from dra_planner.plan.blockers.drivers.configuration import find_refused_configuration
from dra_planner.plan.blockers.drivers.unknown_resources import find_unknown_resources
from dra_planner.plan.blockers.lifecycle_stages import STAGES
from dra_planner.plan.blockers.memory_amounts import find_tiny_memory
from dra_planner.plan.blockers.pods_of_missing_claims import find_pods_of_missing_claims
from dra_planner.plan.blockers.policies.denials import find_denials
from dra_planner.plan.blockers.policies.unevaluated import find_unevaluated_policies
from dra_planner.plan.blockers.queueing.admission import find_queue_faults
from dra_planner.plan.blockers.queueing.exclusive_groups import find_exclusive_groups
from dra_planner.plan.blockers.queueing.other_components import find_waits_for_others
from dra_planner.plan.blockers.queueing.small_gangs import find_small_gangs
from dra_planner.plan.blockers.references import (
    find_idle_budgets,
    find_missing_classes,
    find_missing_objects,
)
from dra_planner.plan.blockers.replica_claims import (
    find_daemons_with_shared_claims,
    find_shared_by_replicas,
    find_shared_by_workloads,
)
from dra_planner.plan.blockers.slices import find_unusable_slices
from dra_planner.plan.blockers.storage.shared_volumes import find_shared_volumes
from dra_planner.plan.blockers.storage.volumes import (
    find_missing_storage_classes,
    find_volumes_without_class,
)
from dra_planner.plan.blockers.topology.kubelet_admission import find_pods_refused_by_kubelets
from dra_planner.plan.blockers.topology.same_node import find_crowded_nodes
from dra_planner.plan.blockers.topology.unmet_affinity import (
    find_daemons_on_system_nodes,
    find_daemons_without_devices,
    find_unmet_affinity,
    system_nodes_of,
)
from dra_planner.plan.blockers.topology.unmet_topology import find_unmet_topology
from dra_planner.plan.blockers.unread_objects import (
    find_pods_on_unknown_nodes,
    find_unread_objects,
)

if TYPE_CHECKING:
    from dra_planner.manifests import Manifests
    from dra_planner.model import WorkloadRef
    from dra_planner.plan.model import Plan, PlannedWorkload

Finder = Callable[[ClusterSituation], Iterable[Blocker]]
FINDERS: Final[tuple[Finder, ...]] = (
    find_denied_claims,
    find_denials,
    find_unknown_admin_access,
    find_unusable_slices,
    find_oversized_claims,
    find_refused_configuration,
    find_unprepared_uses,
    find_missing_requests,
    find_missing_classes,
    find_missing_objects,
    find_volumes_without_class,
    find_missing_storage_classes,
    find_shared_volumes,
    find_waits_for_others,
    find_queue_faults,
    find_unmet_affinity,
    find_daemons_without_devices,
    find_daemons_on_system_nodes,
    find_daemons_with_shared_claims,
    find_unmet_topology,
    find_crowded_nodes,
    find_pods_of_missing_claims,
    find_exclusive_groups,
    find_small_gangs,
    find_unread_objects,
    find_pods_on_unknown_nodes,
    find_pods_refused_by_kubelets,
    find_unknown_resources,
    find_unevaluated_policies,
    find_idle_budgets,
    find_shared_by_replicas,
    find_shared_by_workloads,
    find_tiny_memory,
    find_facts,
)


NO_PODS: Final = Figures.fixed(0)
SIMULATED: Final = "simulation-leaves-pods"
"""The code of the simulation's reason, which is replaced by a known cause."""


def find_blockers(
    situation: ClusterSituation, finders: Iterable[Finder] = FINDERS
) -> tuple[Blocker, ...]:
    """Return all causes that prevent pods of a situation from running, in a fixed order.

    For workloads without pods, they are only facts.
    """
    found = dict.fromkeys(found for find in finders for found in find(situation))
    idle = _idle_workloads(situation.manifests)
    located = (locate(each, situation.manifests) for each in found)
    return tuple(
        replace(each, verdict="fits", is_conditional=True)
        if each.workloads and idle.issuperset(each.workloads)
        else each
        for each in located
    )


def _idle_workloads(manifests: Manifests) -> frozenset[WorkloadRef]:
    """Return the workloads that never have pods as long as their manifests don't change."""
    unknown = {each.workload for each in manifests.unresolved}
    return frozenset(
        workload.ref
        for workload in manifests.workloads
        if workload.ref not in unknown
        and workload.pod_sets
        and not any(each.per_node or each.figures != NO_PODS for each in workload.pod_sets)
    )


def with_blockers(plan: Plan) -> Plan:
    """Return the plan with the blockers of its manifests and accordingly worse verdicts."""
    if plan.manifests is None:
        return plan
    found = find_blockers(_situation(plan))
    if not found:
        return plan
    return replace(
        plan,
        blockers=found,
        workloads=tuple(_hindered(each, found) for each in plan.workloads),
    )


def _hindered(planned: PlannedWorkload, found: tuple[Blocker, ...]) -> PlannedWorkload:
    own = [each for each in found if planned.workload in each.workloads and each.verdict != "fits"]
    if not own:
        return planned
    verdict = worst(each.verdict for each in own)
    explained = any(
        each.code in STAGES and STAGES[each.code] == "scheduled" for each in own if each.is_certain
    )
    reasons = [each for each in planned.reasons if not (explained and each.code == SIMULATED)]
    return replace(
        planned,
        verdicts={level: worst((planned.verdicts[level], verdict)) for level in DEMAND_LEVELS},
        reasons=tuple(dict.fromkeys((*reasons, *(each.reason for each in own)))),
    )


def _situation(plan: Plan) -> ClusterSituation:
    assert plan.manifests is not None  # the caller has already checked this
    return ClusterSituation(
        manifests=plan.manifests,
        features=plan.judgement.features,
        classes=plan.classes,
        offers=plan.offers,
        system=system_nodes_of(plan.judgement),
        nvidia=None if plan.fleet is None else plan.fleet.drivers.of(nvidia.DRIVER),
        autoscaler="" if plan.fleet is None else plan.fleet.autoscaler,
        cloud=cloud_of(plan.judgement),
        is_guided=is_guided(plan.judgement),
    )
