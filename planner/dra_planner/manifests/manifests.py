"""The content of a set of manifests, as the API server and the controllers read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from dra_planner.errors import NOWHERE, Diagnostic, Place
from dra_planner.manifests.collecting.volume_claims import VolumeClaim
from dra_planner.manifests.metric_readers import MetricReader
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    DeviceClass,
    DeviceTaintRule,
    DisruptionBudget,
    ExclusiveGroups,
    Figures,
    Gang,
    LimitRange,
    Node,
    ObjectKey,
    ObjectMeta,
    PodSpec,
    QueueSetup,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    RuntimeClass,
    Workload,
    WorkloadRef,
)
from dra_planner.records import equality

GroupClaims = Mapping[tuple[str, str], str]
"""The claims that all pods of a group share: (name of the entry, name of the template) → name of
the claim.
"""


@equality(unhashed=("claims",))
class BoundPod(Struct, frozen=True, kw_only=True):
    """A pod on a node: its resources there, and its claims."""

    meta: ObjectMeta
    spec: PodSpec
    # name of the ResourceClaim by entry
    claims: Mapping[str, str] = {}
    # the workload that creates the pod, even if several controllers are in between
    owner: WorkloadRef | None = None
    # creation time in the API's format; empty if it wasn't created yet, or if the time is unknown
    started: str = ""
    ready: bool = True  # True unless the cluster states that the pod isn't ready
    exists: bool = True  # False for a new pod whose manifest names its node
    going: bool = False  # the pod is terminating, so it exists until its node has ended it
    is_served_by_claim: bool = (
        False  # a claim serves the pod's extended resources, so the device plugin doesn't
    )
    # its template is no longer the workload's template, because a rollout is in progress
    outdated: bool = False

    @property
    def node_name(self) -> str:
        return self.spec.node_name


@equality(ignored=("place",))
class UnresolvedPods(Struct, frozen=True, kw_only=True):
    """Pods of a workload that the manifests don't describe completely. Without a `fix`, another
    manifest describes them.
    """

    workload: WorkloadRef
    figures: Figures
    reason: str
    fix: str = ""
    place: Place = NOWHERE


@equality(ignored=("place",))
class UnreadObject(Struct, frozen=True, kw_only=True):
    """An unsupported object that might create pods, with the reason, and the input to use
    instead.
    """

    title: str  # for example, "Engine ml/llama"
    reason: str
    instead: str
    place: Place = NOWHERE
    missing: str = "its pods"  # the parts that the plan lacks because of this object


class AdmissionPolicies(Struct, frozen=True, kw_only=True):
    """ValidatingAdmissionPolicies and their bindings, `others` that change or reject objects, and
    the objects that the manifests create.
    """

    policies: tuple[KubernetesObject, ...] = ()
    bindings: tuple[KubernetesObject, ...] = ()
    others: tuple[KubernetesObject, ...] = ()
    created: tuple[KubernetesObject, ...] = ()


@equality(
    ignored=("admission",),
    unhashed=(
        "existing",
        "claims",
        "templates",
        "classes",
        "queued",
        "charged",
        "namespaces",
        "priority_classes",
        "runtime_classes",
        "quota_places",
        "budgets",
        "generated_claims",
        "group_claims",
        "other_kinds",
    ),
)
class Manifests(Struct, frozen=True, kw_only=True):
    """The objects of all sources that the API server would accept, and diagnostics about the
    others.

    `workloads` is in document order. `existing` are the workloads that are already in a cluster.
    `queued` is the number of their pending pods, and `charged` is the number of pending pods that
    quotas already count with their claims. `refused` are the objects that the API server would
    reject, as (kind, key). `other_kinds` counts the ignored objects.
    """

    workloads: tuple[Workload, ...] = ()
    existing: Mapping[WorkloadRef, Workload] = {}
    claims: Mapping[ObjectKey, ResourceClaim] = {}
    templates: Mapping[ObjectKey, ResourceClaimTemplate] = {}
    classes: Mapping[str, DeviceClass] = {}
    slices: tuple[ResourceSlice, ...] = ()
    nodes: tuple[Node, ...] = ()
    bound_pods: tuple[BoundPod, ...] = ()
    queued: Mapping[WorkloadRef, int] = {}
    # the workloads among these that are bare pods of the cluster
    waiting_pods: tuple[BoundPod, ...] = ()
    charged: Mapping[WorkloadRef, int] = {}
    ended: frozenset[WorkloadRef] = frozenset()  # bare pods that have completed
    namespaces: Mapping[str, ObjectMeta] = {}
    # "" names the default class
    priority_classes: Mapping[str, int] = {}
    runtime_classes: Mapping[str, RuntimeClass] = {}
    taint_rules: tuple[DeviceTaintRule, ...] = ()
    queues: QueueSetup = field(default_factory=QueueSetup)
    # the classes among these with preemptionPolicy Never
    non_preempting: frozenset[str] = frozenset()
    limit_ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[Mapping[str, Any], ...] = ()  # ResourceQuotas in API form
    admission: AdmissionPolicies = field(default_factory=AdmissionPolicies)
    quota_places: Mapping[ObjectKey, Place] = {}
    metric_readers: tuple[MetricReader, ...] = ()
    # whether dcgm-exporter adds labels for pods with claims; None if the manifests don't contain
    # dcgm-exporter
    exporter_names_claims: bool | None = None
    budgets: Mapping[ObjectKey, DisruptionBudget] = {}
    generated_claims: Mapping[ObjectKey, Mapping[str, str]] = {}
    # by PodGroup
    group_claims: Mapping[ObjectKey, GroupClaims] = {}
    gangs: tuple[Gang, ...] = ()
    exclusive_groups: tuple[ExclusiveGroups, ...] = ()
    unresolved: tuple[UnresolvedPods, ...] = ()
    refused: frozenset[tuple[str, ObjectKey]] = frozenset()
    # (kind, key) of the ConfigMaps, PersistentVolumeClaims, Secrets, and ServiceAccounts, and of
    # namespaces that a controller creates
    declared: frozenset[tuple[str, ObjectKey]] = frozenset()
    volume_claims: Mapping[ObjectKey, VolumeClaim] = {}
    other_kinds: Mapping[str, int] = {}
    # kinds among them that are unknown and don't mention pods or devices
    unknown_kinds: frozenset[str] = frozenset()
    # objects of other kinds without which the verdict can't be known
    unread: tuple[UnreadObject, ...] = ()
    # objects of unknown kinds that might create pods, in manifests that also contain workloads
    unclear: tuple[UnreadObject, ...] = ()
    # the fleet declares that they define every object of the cluster
    is_complete: bool = False
    # (kind, name) of other objects that such a cluster provides
    provided: frozenset[tuple[str, str]] = frozenset()
    diagnostics: tuple[Diagnostic, ...] = ()


def selectors_of(manifests: Manifests) -> Iterator[CelSelector]:
    """Yield every CEL selector of all claims, templates, and classes, with its place."""
    for claim in manifests.claims.values():
        yield from _claim_selectors(claim.spec)
    for template in manifests.templates.values():
        yield from _claim_selectors(template.spec)
    for device_class in manifests.classes.values():
        yield from device_class.selectors


def _claim_selectors(spec: ClaimSpec) -> Iterator[CelSelector]:
    for request in spec.requests:
        for alternative in (request.exactly, *request.first_available):
            if alternative is not None:
                yield from alternative.selectors
