"""Demand: shapes of pods with counts, so that time and size never depend on replicas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.claims import ClaimSpec, ResourceClaim
from dra_planner.model.objects import ObjectKey
from dra_planner.model.pods import PodSpec
from dra_planner.model.verdicts import Reason, Verdict
from dra_planner.model.workloads import Figures, WorkloadRef


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeClaim:
    """One claim of a pod: its own (`spec`), or one that it shares with every pod naming it (`shared`)."""

    name: str  # entry in the pod's spec.resourceClaims, or the name of an implicit extended-resource claim
    spec: ClaimSpec
    shared: ObjectKey | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """How many pods of a shape one workload contributes, and how it makes them (see `PodSet`)."""

    workload: WorkloadRef
    pod_set: str
    figures: Figures
    in_order: bool = False
    spreads: bool = False
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Everything the scheduler can distinguish about a pod, and who asks for how many of them.

    `id` is a digest of namespace, labels, pod and claims, so equal pods have equal ids in every run.
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
    """Pods that no node can take, whatever the pools: their claim's template is missing, say."""

    member: Member
    verdict: Verdict  # "does-not-fit" or "cannot-tell"
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """All that the workloads ask for: shapes sorted by id, and pods that can never be scheduled.

    `namespaces` are the labels of namespaces by name, for rules between pods that select namespaces.
    """

    shapes: tuple[Shape, ...]
    shared_claims: Mapping[ObjectKey, ResourceClaim] = field(default_factory=dict, hash=False)
    blocked: tuple[Blocked, ...] = ()
    assumptions: tuple[str, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
