"""Demand: shapes of pods with counts, so that time and size never depend on replicas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.claims import ClaimSpec, ResourceClaim, generated_claim_name
from dra_planner.model.disruption_budgets import DisruptionBudget
from dra_planner.model.objects import ObjectKey
from dra_planner.model.pods import PodSpec
from dra_planner.model.verdicts import Reason, Verdict
from dra_planner.model.workloads import Figures, NewFirst, Rollout, WorkloadRef
from dra_planner.records import equality


@equality(ignored=("place",))
class ShapeClaim(Struct, frozen=True, kw_only=True):
    """One claim of a pod: its own (`spec`), or one that it shares with other pods (`shared`)."""

    # entry in the pod's spec.resourceClaims, or the name of an implicit extended-resource claim
    name: str
    spec: ClaimSpec
    shared: ObjectKey | None = None
    place: Place = NOWHERE

    def title(self, workload: WorkloadRef) -> str:
        """Return the name of the claim in all messages: NAMESPACE/NAME, or NAMESPACE/WORKLOAD-ENTRY
        for the claims of a workload's pods.
        """
        if self.shared is not None:
            return str(self.shared)
        return f"{workload.namespace}/{generated_claim_name(workload.name, self.name)}"


@equality(ignored=("place",))
class Member(Struct, frozen=True, kw_only=True):
    """The pods of a shape that one workload contributes, and how it creates them (see `PodSet`).

    `running` are the workload's pods on the cluster's nodes, which are included in the figures.
    `changed` means that they (or at least the `outdated` pods) use another pod template. `leaving`
    pods are pending in the cluster with an earlier pod template. A separate member with figures of
    0 contains them. `stuck` are the leaving pods that lack a claim. `awaited` are the nodes for
    which a DaemonSet has pending pods. `ahead` means that the workload isn't part of the request,
    but its pods are in the cluster's queue or on its nodes. `templates` are the
    ResourceClaimTemplates that its pods use. Pods with equal claims from several templates have the
    same shape.
    """

    workload: WorkloadRef
    pod_set: str
    figures: Figures
    in_order: bool = False
    spreads: bool = False
    rollout: Rollout | None = None
    new_first: NewFirst | None = None
    running: tuple[ObjectKey, ...] = ()
    changed: bool = False
    outdated: frozenset[ObjectKey] = frozenset()
    leaving: tuple[ObjectKey, ...] = ()
    stuck: tuple[ObjectKey, ...] = ()
    awaited: frozenset[str] = frozenset()
    charged: int = 0  # pods that already exist in the cluster, and that quotas already count
    ahead: bool = False
    templates: tuple[ObjectKey, ...] = ()
    place: Place = NOWHERE


@equality(unhashed=("labels",))
class Shape(Struct, frozen=True, kw_only=True):
    """Everything about a pod that the scheduler can distinguish, and the workloads with such pods.

    `id` is a digest of namespace, labels, pod, and claims, so equal pods have equal IDs in every
    run.
    """

    id: str
    namespace: str
    labels: Mapping[str, str]
    pod: PodSpec
    claims: tuple[ShapeClaim, ...]
    members: tuple[Member, ...]
    per_node: bool = False

    @property
    def figures(self) -> Figures:
        total = Figures.fixed(0)
        for member in self.members:
            total = total + member.figures
        return total


class Blocked(Struct, frozen=True, kw_only=True):
    """Pods that can't run on any node of any pool, for example because a claim template is missing.

    `created` means that they exist and are pending. Otherwise, the API server rejects them.
    `requests_devices` is False if they don't request devices, or if this is unknown. `classes` are
    the requested DeviceClasses if one of them is unknown. `entry` is the name in the pod of a claim
    whose object is missing.
    """

    member: Member
    verdict: Verdict  # "does-not-fit" or "cannot-tell"
    reason: Reason
    created: bool = True
    requests_devices: bool = True
    classes: tuple[str, ...] = ()
    entry: str = ""


class GangPart(Struct, frozen=True):
    """Pods of one pod set in each group of a gang. 0 means all pods, if the gang is one group."""

    workload: WorkloadRef
    pod_set: str
    pods: int = 0


class Gang(Struct, frozen=True, kw_only=True):
    """Pods that are useful only together: one group, or several equal groups.

    A group starts with `least` of its pods (0 means all), and the other pods run if they fit.
    `held_by` names the controller that holds the pods until enough of them fit. "" means that pods
    start one by one.
    """

    name: str
    parts: tuple[GangPart, ...]
    least: int = 0
    held_by: str = ""


QuotaLimit = tuple[ObjectKey, str]
"""One limit of a ResourceQuota: the object, and the resource that it limits."""
PodSetKey = tuple[WorkloadRef, str]
"""A workload and the name of one of its pod sets."""


class PodQuotas(Struct, frozen=True, kw_only=True):
    """Free quota before any pod of a demand is created, in thousandths of each limit's unit.

    `charges` is the quota that one pod needs, by pod set. `freed` is the quota that the deletion of
    one running pod frees, for pod sets whose rollout replaces these pods. `refused` are the pods
    that the demand excludes because of quotas. In a cluster, these pods depend on the order of
    creation. `left` is the free quota after all these pods and one pod of each DaemonSet. `daemons`
    is the number of DaemonSet pods that are counted, because their node counts are known only after
    sizing.
    `least_left` is the free quota like `left`, at the level of demand that needs the most.
    """

    room: Mapping[QuotaLimit, int]
    charges: Mapping[PodSetKey, Mapping[QuotaLimit, int]]
    refused: Mapping[PodSetKey, Figures]
    freed: Mapping[PodSetKey, Mapping[QuotaLimit, int]] = {}
    left: Mapping[QuotaLimit, int] = {}
    daemons: Mapping[PodSetKey, int] = {}
    least_left: Mapping[QuotaLimit, int] = {}

    def daemon_rooms(
        self, nodes: Mapping[PodSetKey, int]
    ) -> Iterator[tuple[PodSetKey, int, int, QuotaLimit]]:
        """Yield for each DaemonSet its counted pods, the additional pods that fit the quotas, and
        the limits that are too small.

        `nodes` is the number of nodes of each DaemonSet (0 if missing). The DaemonSets use the free
        quota one after another, by kind, namespace, and name, like all workloads of a plan.
        """
        left = dict(self.left)
        for key, known in sorted(self.daemons.items()):
            takes = {limit: amount for limit, amount in self.charges[key].items() if amount}
            if takes:
                room, tight = min(
                    (max(0, left[limit]) // amount, limit) for limit, amount in takes.items()
                )
                for limit, amount in takes.items():
                    left[limit] -= amount * min(max(0, nodes.get(key, 0) - known), room)
                yield key, known, room, tight


@equality(unhashed=("shared_claims", "namespaces", "quotas"))
class Demand(Struct, frozen=True, kw_only=True):
    """All requests of the workloads: shapes sorted by ID, and pods that can never be scheduled.

    `namespaces` are the labels of namespaces by name, for rules between pods that select
    namespaces. `gangs` are the pods that start together. `budgets` protect pods from preemption by
    pods with a higher priority. `quotas` determine which pods are admitted when they are created
    one after another. It's None if no quota limits a pod.
    """

    shapes: tuple[Shape, ...]
    shared_claims: Mapping[ObjectKey, ResourceClaim] = {}
    blocked: tuple[Blocked, ...] = ()
    assumptions: tuple[str, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = {}
    gangs: tuple[Gang, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    quotas: PodQuotas | None = None
