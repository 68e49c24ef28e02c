"""Demand: shapes of pods with counts, so that time and size never depend on replicas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.claims import ClaimSpec, ResourceClaim
from dra_planner.model.disruption_budgets import DisruptionBudget
from dra_planner.model.objects import ObjectKey
from dra_planner.model.pods import PodSpec
from dra_planner.model.verdicts import Reason, Verdict
from dra_planner.model.workloads import Figures, Rollout, WorkloadRef


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeClaim:
    """One claim of a pod: its own (`spec`), or one that it shares with every pod naming it
    (`shared`).
    """

    # entry in the pod's spec.resourceClaims, or the name of an implicit extended-resource claim
    name: str
    spec: ClaimSpec
    shared: ObjectKey | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """How many pods of a shape one workload contributes, and how it makes them (see `PodSet`).

    `running` are the pods of the workload that a cluster has on its nodes already, part of the
    figures; `changed`: they are of another template, or at least those that are `outdated`.
    `leaving` pods are pending in the cluster, and of a template before: a member of their own holds
    them, with figures of 0. `stuck` are those of them that lack a claim. `ahead`: not asked about,
    but its pods are in the cluster's queue or on its nodes. `templates`: the ResourceClaimTemplates
    that its pods name; equal claims of several templates are one shape.
    """

    workload: WorkloadRef
    pod_set: str
    figures: Figures
    in_order: bool = False
    spreads: bool = False
    rollout: Rollout | None = None
    running: tuple[ObjectKey, ...] = ()
    changed: bool = False
    outdated: frozenset[ObjectKey] = frozenset()
    leaving: tuple[ObjectKey, ...] = ()
    stuck: tuple[ObjectKey, ...] = ()
    charged: int = 0  # pods that the cluster has, and that quotas count already
    ahead: bool = False
    templates: tuple[ObjectKey, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Everything the scheduler can distinguish about a pod, and who asks for how many of them.

    `id` is a digest of namespace, labels, pod and claims, so equal pods have equal ids in every
    run.
    """

    id: str
    namespace: str
    labels: Mapping[str, str] = field(hash=False)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Pods that no node can take, whatever the pools: their claim's template is missing, say.

    `created`: they exist, and are pending; else the API server refuses them. `requests_devices` is
    False where they request none, or where that is unknown; `classes` are the DeviceClasses
    requested, where one of them is unknown.
    """

    member: Member
    verdict: Verdict  # "does-not-fit" or "cannot-tell"
    reason: Reason
    created: bool = True
    requests_devices: bool = True
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GangPart:
    """Pods of one pod set in each group of a gang; 0: all of them, where the gang is one group."""

    workload: WorkloadRef
    pod_set: str
    pods: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Pods that are of use together alone: one group, or groups that are alike.

    A group starts with `least` of its pods (0: with all), the others run as they fit. `held_by`
    keeps the pods back until so many have room, in words; "" where nobody does and pods start one
    by one.
    """

    name: str
    parts: tuple[GangPart, ...]
    least: int = 0
    held_by: str = ""


QuotaLimit = tuple[ObjectKey, str]
"""One limit of a ResourceQuota: the object, and the resource that it limits."""
PodSetKey = tuple[WorkloadRef, str]
"""A workload, and the name of one of its pod sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodQuotas:
    """Room of quotas before any pod of a demand is made, in thousandths of what each limit is given
    in.

    `charges` is what one pod of a pod set takes of it, by pod set; `refused` are the pods that the
    demand leaves out for quotas: which ones these are in a cluster is decided by who comes first.
    `left` is the room beside all these and one pod of each DaemonSet; `daemons` says how many pods
    of these are counted: on how many nodes they run is known when nodes are.
    """

    room: Mapping[QuotaLimit, int] = field(hash=False)
    charges: Mapping[PodSetKey, Mapping[QuotaLimit, int]] = field(hash=False)
    refused: Mapping[PodSetKey, Figures] = field(hash=False)
    left: Mapping[QuotaLimit, int] = field(default_factory=dict[QuotaLimit, int], hash=False)
    daemons: Mapping[PodSetKey, int] = field(default_factory=dict[PodSetKey, int], hash=False)

    def daemon_rooms(
        self, nodes: Mapping[PodSetKey, int]
    ) -> Iterator[tuple[PodSetKey, int, int, QuotaLimit]]:
        """Yield for each DaemonSet its pods that are counted, those that there is room for beside,
        and what is tight.

        `nodes` says on how many nodes each runs; one that is not named runs on none. They get what
        is left one after the other, by kind, namespace and name, as all workloads of a plan do.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """All that the workloads ask for: shapes sorted by id, and pods that can never be scheduled.

    `namespaces` are the labels of namespaces by name, for rules between pods that select
    namespaces. `gangs` are the pods that start together. `budgets` spare pods where others of
    higher priority push them off their nodes. `quotas` tell whom they let in when pods arrive one
    after the other; None where no quota limits a pod.
    """

    shapes: tuple[Shape, ...]
    shared_claims: Mapping[ObjectKey, ResourceClaim] = field(default_factory=dict, hash=False)
    blocked: tuple[Blocked, ...] = ()
    assumptions: tuple[str, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    gangs: tuple[Gang, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    quotas: PodQuotas | None = None
