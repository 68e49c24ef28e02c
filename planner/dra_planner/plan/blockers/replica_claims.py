"""Replicas and workloads that use the same claim, and therefore share its devices and its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.drivers.nvidia import CHART_CLASSES
from dra_planner.errors import Place
from dra_planner.manifests import Manifests
from dra_planner.model import ObjectKey, PodResourceClaim, WorkloadRef
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.plan.blockers.idle_configuration import divides_claim
from dra_planner.plan.blockers.scheduler_bugs import is_of_several_nodes
from dra_planner.plan.blockers.topology.unmet_affinity import may_reach
from dra_planner.wording import listed

_OF_REPLICAS: Final = "claim-shared-by-replicas"  # same text as in the rule
_SEVERAL: Final = 2  # nodes
FIX: Final = "use a ResourceClaimTemplate to give each pod its own devices"


class ReplicaClaim(Struct, frozen=True):
    """A claim that several pods of a workload use.

    `is_of_node` is set if its devices belong to one node.
    """

    workload: WorkloadRef
    message: str
    place: Place
    is_of_node: bool

    @property
    def fix(self) -> str:
        """The change that gives each pod its own devices."""
        return FIX if self.is_of_node else f"if the devices belong to one node, {FIX}"


def find_replica_claims(manifests: Manifests) -> Iterator[ReplicaClaim]:
    """Yield the claims that several pods of a workload use at its maximum replicas.

    Claims with a sharing configuration are excluded, because they are shared on purpose.
    """
    for workload, pod_set in pod_sets_with_claims(manifests):
        most = pod_set.figures.ceiling
        if most is not None and most < 2:
            continue
        pods = "all its pods" if most is None else f"its {most} pods"
        for entry in pod_set.template.spec.resource_claims:
            if entry.resource_claim_name is None:
                continue
            key = ObjectKey(workload.meta.namespace, entry.resource_claim_name)
            if key in manifests.templates and key not in manifests.claims:
                continue  # the pods should use the template, which gives each pod its own devices
            claim = manifests.claims.get(key)
            if claim is not None and divides_claim(claim.spec):
                continue
            is_of_node = _is_of_node(manifests, workload.meta.namespace, entry)
            unless = "" if is_of_node else ", unless several nodes can access the devices"
            yield ReplicaClaim(
                workload.ref,
                f"{workload.ref}: {pods} use ResourceClaim {key}, so they share its devices and "
                f"run on one node{unless}",
                entry.place if entry.place.file else workload.place,
                is_of_node,
            )


def find_shared_by_replicas(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the claims shared by replicas as facts, because their devices don't grow with the
    replicas.
    """
    for each in find_replica_claims(situation.manifests):
        if each.workload not in situation.manifests.existing:
            found = fact(each.message, each.fix, each.workload, place=each.place, code=_OF_REPLICAS)
            yield replace(found, is_conditional=not each.is_of_node)


def find_daemons_with_shared_claims(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield DaemonSets whose pods on several nodes use one claim for devices of one node."""
    manifests = situation.manifests
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        if not pod_set.per_node or workload.ref in manifests.existing:
            continue
        nodes = [offer for offer in situation.offers if may_reach(spec, offer)]
        if sum(offer.count_min for offer in nodes) < _SEVERAL:
            continue
        for entry in spec.resource_claims:
            if entry.resource_claim_name is None:
                continue
            key = ObjectKey(workload.meta.namespace, entry.resource_claim_name)
            if key in manifests.claims and _is_of_node(manifests, key.namespace, entry):
                yield Blocker(
                    code="pod-cannot-be-scheduled",
                    message=f"{workload.ref}: its pods on all nodes use ResourceClaim {key}, but "
                    "the claim's devices belong to one node, so the pods on other nodes stay "
                    "pending",
                    fix=FIX,
                    place=entry.place if entry.place.file else workload.place,
                    workloads=(workload.ref,),
                )


def find_shared_by_workloads(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the claims that pods of several workloads use, as facts with these workloads.

    Claims with a sharing configuration are excluded, because they are shared on purpose.
    """
    manifests = situation.manifests
    users: dict[ObjectKey, dict[WorkloadRef, PodResourceClaim]] = {}
    for workload, pod_set in pod_sets_with_claims(manifests):
        for entry in pod_set.template.spec.resource_claims:
            if entry.resource_claim_name is not None and workload.ref not in manifests.existing:
                key = ObjectKey(workload.meta.namespace, entry.resource_claim_name)
                users.setdefault(key, {})[workload.ref] = entry
    for key, own in sorted(users.items()):
        if len(own) < 2 or (key in manifests.templates and key not in manifests.claims):
            continue
        claim = manifests.claims.get(key)
        if claim is not None and divides_claim(claim.spec):
            continue
        refs = sorted(own)
        is_of_node = _is_of_node(manifests, key.namespace, own[refs[0]])
        yield fact(
            f"{listed([str(ref) for ref in refs])} use ResourceClaim {key}, so they share its "
            f"devices{' and run on one node' if is_of_node else ''}",
            FIX,
            *refs,
            place=own[refs[-1]].place,
        )


def _is_of_node(manifests: Manifests, namespace: str, entry: PodResourceClaim) -> bool:
    """Return whether a device of a claim belongs to a node, according to its class.

    Returns False for a claim that isn't in the files.
    """
    spec = spec_of(manifests, namespace, entry)
    requests = spec.requests if spec else ()
    classes = {exact.device_class_name for request in requests for exact in request.alternatives}
    if any(
        name in manifests.classes and is_of_several_nodes(manifests.classes[name], manifests)
        for name in classes
    ):
        return False
    return any(name in CHART_CLASSES or name in manifests.classes for name in classes)
