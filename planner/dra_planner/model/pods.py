"""Pods: the fields that decide whether, and where, they can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.objects import Amounts, LabelSelector, NodeSelector, NodeSelectorTerm
from dra_planner.records import equality


class Toleration(Struct, frozen=True):
    """The node taints that a pod tolerates."""

    key: str = ""
    operator: Literal["Equal", "Exists", "Lt", "Gt"] = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class ContainerClaim(Struct, frozen=True):
    """The pod's claim that a container uses, and optionally the request in this claim."""

    name: str
    request: str = ""


class ContainerPort(Struct, frozen=True):
    """A port of a container. Only `host_port` affects placement."""

    container_port: int
    host_port: int = 0
    protocol: str = "TCP"
    host_ip: str = ""


@equality(ignored=("command", "written_memory"), unhashed=("requests", "limits"))
class Container(Struct, frozen=True, kw_only=True):
    """A container or init container. `always_restarts` marks an init container as a sidecar.

    `command` is its command and arguments, and `written_memory` is its memory request and limit as
    text, which don't affect placement.
    """

    name: str
    requests: Amounts = {}
    limits: Amounts = {}
    claims: tuple[ContainerClaim, ...] = ()
    ports: tuple[ContainerPort, ...] = ()
    always_restarts: bool = False
    command: tuple[str, ...] = ()
    written_memory: tuple[str, str] = ("", "")


@equality(ignored=("place",))
class PodResourceClaim(Struct, frozen=True, kw_only=True):
    """An entry of `spec.resourceClaims`, in which exactly one of the two names is set."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None
    place: Place = NOWHERE


class PodAffinityTerm(Struct, frozen=True, kw_only=True):
    """A term of (anti-)affinity to other pods."""

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()


class PreferredNodes(Struct, frozen=True):
    """Nodes that a pod prefers, and their weight in node scores, 1 to 100."""

    weight: int
    term: NodeSelectorTerm


class PreferredPods(Struct, frozen=True):
    """Pods near which a pod prefers to run (or that it avoids, with a negative weight), in node
    scores.
    """

    weight: int
    term: PodAffinityTerm


class TopologySpreadConstraint(Struct, frozen=True, kw_only=True):
    """How evenly pods must spread over the values of a node label."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: Literal["Honor", "Ignore"] = "Honor"
    node_taints_policy: Literal["Honor", "Ignore"] = "Ignore"
    match_label_keys: tuple[str, ...] = ()


VOLUME_AFFINITY: Final = "node affinity of PersistentVolume"
"""The prefix of the source of a label that a pod's volume selects."""


@equality(
    ignored=("selected_by", "defaulted_by"), unhashed=("pod_requests", "overhead", "node_selector")
)
class PodSpec(Struct, frozen=True, kw_only=True):
    """The fields of a pod that the scheduler reads. Preferences affect only which node is
    chosen.
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    # pod-level `resources.requests`
    pod_requests: Amounts = {}
    overhead: Amounts = {}
    resource_claims: tuple[PodResourceClaim, ...] = ()
    node_name: str = ""
    node_selector: Mapping[str, str] = {}
    # labels of a selector that another object adds, and their source: "spec.nodeLabels of …"
    selected_by: Mapping[str, str] = {}
    # resources whose requests are a LimitRange's defaults, and the LimitRange
    defaulted_by: Mapping[str, str] = {}
    node_affinity: NodeSelector | None = None  # requiredDuringScheduling
    pod_affinity: tuple[PodAffinityTerm, ...] = ()
    pod_anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_nodes: tuple[PreferredNodes, ...] = ()
    preferred_pods: tuple[PreferredPods, ...] = ()
    topology_spread: tuple[TopologySpreadConstraint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    priority: int = 0
    priority_class_name: str = ""
    preemption_policy: str = "PreemptLowerPriority"
    scheduling_gates: tuple[str, ...] = ()
    scheduler_name: str = "default-scheduler"
    runtime_class_name: str = ""
    host_network: bool = False
    pod_group: str = ""  # the PodGroup (scheduling.k8s.io) of the pod
    zonal_volumes: tuple[str, ...] = ()  # volumes whose zone is known only at run time


class PastClaim(Struct, frozen=True):
    """A way in which pods access devices without a claim: its `description`, as a sentence without
    a subject, and the `setting` that causes it.
    """

    description: str
    setting: str


@equality(ignored=("past_claims", "needs", "written", "place"), unhashed=("labels", "annotations"))
class PodTemplate(Struct, frozen=True, kw_only=True):
    """The pod template that a controller uses."""

    spec: PodSpec
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    # how its pods access devices without a claim
    past_claims: tuple[PastClaim, ...] = ()
    # objects in its namespace that it needs to start: kind and name
    needs: tuple[tuple[str, str], ...] = ()
    # in the form of the workload's document
    written: Mapping[str, Any] = {}
    place: Place = NOWHERE


def peak_amounts(pod: PodSpec, amounts_of: Callable[[Container], Amounts]) -> dict[str, int]:
    """Return the maximum simultaneous requests of a pod's containers, by resource.

    Init containers run one after another, together with the sidecars that started before them.
    Source: kubernetes/component-helpers:resource/helpers.go (PodRequests)@v0.36.3.
    """
    total = _sum(
        [*pod.containers, *(each for each in pod.init_containers if each.always_restarts)],
        amounts_of,
    )
    started: list[Container] = []
    for container in pod.init_containers:
        if container.always_restarts:
            started.append(container)
        stage = _sum(started if container.always_restarts else [*started, container], amounts_of)
        total = {name: max(total.get(name, 0), stage.get(name, 0)) for name in {*total, *stage}}
    return total


def _sum(containers: list[Container], amounts_of: Callable[[Container], Amounts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        for name, amount in amounts_of(container).items():
            total[name] = total.get(name, 0) + amount
    return total
