"""The scheduler's filters other than devices, in its order.

If one rejects a node, its devices aren't searched. Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/{nodeunschedulable,nodename,
tainttoleration,nodeaffinity,nodeports,noderesources,interpodaffinity}/*.go,
apis/config/v1/default_plugins.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.pod_rules import PodView, term_selects
from dra_planner.allocation.node.ports import ports_clash
from dra_planner.allocation.node.selectors import node_matches, tolerates, untolerated_taint
from dra_planner.allocation.node.state import NodeState, Port
from dra_planner.model import Node, PodSpec, Shape, Taint

HOSTNAME = "kubernetes.io/hostname"
UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable")

Filter = Literal[
    "unschedulable",
    "node-name",
    "taint",
    "node-selector",
    "host-port",
    "resources",
    "affinity",
    "anti-affinity",
    "spread",
    "topology-label",
]


class Misfit(Struct, frozen=True):
    """The filter that rejected the node, and the reason.

    `taint` is set for "taint". `shortages` (resource, requested, free) is set for "resources", and
    for other filters that check only the node, it contains resources that the node doesn't offer.
    `port` is set for "host-port". `label` is the label for "node-selector", "affinity", "spread",
    and "topology-label" (rules between pods need it, but the node doesn't have it). `is_unknown` is
    set if the label's value is known only at run time.
    """

    filter: Filter
    taint: Taint | None = None
    shortages: tuple[tuple[str, int, int], ...] = ()
    port: int = 0
    label: str = ""
    is_unknown: bool = False


def reject_for_good(pod: PodSpec, node: Node) -> Misfit | None:
    """Return the reason that always excludes such pods from the node, or None."""
    if node.unschedulable and not any(tolerates(t, UNSCHEDULABLE) for t in pod.tolerations):
        return Misfit("unschedulable")
    if pod.node_name and pod.node_name != node.name:
        return Misfit("node-name")
    taint = untolerated_taint(node.taints, pod.tolerations)
    if taint is not None:
        return Misfit("taint", taint=taint)
    labels = node.meta.labels
    for key, value in pod.node_selector.items():
        if labels.get(key) != value:
            return Misfit("node-selector", label=f"{key}={value}")
    if pod.node_affinity is not None and not node_matches(pod.node_affinity, node):
        return Misfit("node-selector")
    return None


def with_absent(misfit: Misfit | None, requests: Mapping[str, int], node: Node) -> Misfit | None:
    """Return a misfit together with the extended resources that the node doesn't offer, because
    they also exclude the pod.
    """
    if misfit is None:
        return None
    absent = (
        (name, requested, 0)
        for name, requested in requests.items()
        if "/" in name and not node.allocatable.get(name)
    )
    return replace(misfit, shortages=tuple(absent))


def reject_for_now(
    requests: dict[str, int], ports: frozenset[Port], state: NodeState
) -> Misfit | None:
    """Return the reason that excludes the pod from the node in its current state: ports and
    resources.
    """
    if ports:
        port = ports_clash(ports, state.ports)
        if port is not None:
            return Misfit("host-port", port=port)
    used, allocatable = dict(state.used), state.node.allocatable
    short: list[tuple[str, int, int]] = []
    for name, amount in requests.items():
        left = allocatable.get(name, 0) - used.get(name, 0)
        if amount > left:
            short.append((name, amount, left))
    return Misfit("resources", shortages=tuple(short)) if short else None


def reject_for_neighbours(shape: Shape, state: NodeState) -> Misfit | None:
    """Return the affinity or anti-affinity to pods on this node that excludes the pod. Wider
    topologies need a cluster.
    """
    if not state.pods:
        return None
    view, namespaces = PodView.of(shape), state.template.sight.namespaces
    for other, _ in state.pods:
        for term in other.anti_affinity:
            if term.topology_key == HOSTNAME and term_selects(term, other, view, namespaces):
                return Misfit("anti-affinity")
    for term in shape.pod.pod_anti_affinity:
        if term.topology_key == HOSTNAME and any(
            term_selects(term, view, other, namespaces) for other, _ in state.pods
        ):
            return Misfit("anti-affinity")
    return None
