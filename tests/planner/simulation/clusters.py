"""Small clusters: an offer per node, and pods in the order in which they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from allocation_builders import CLASSES, node
from msgspec.structs import replace

from dra_planner.errors import Place
from dra_planner.model import (
    Demand,
    Device,
    DisruptionBudget,
    Figures,
    Member,
    Node,
    ResourceSlice,
    Shape,
    WorkloadRef,
)
from dra_planner.offers import Offer
from dra_planner.releases import Features, features_of
from dra_planner.simulation import DEFAULT, Profile, Simulator, observed_nodes

F36 = features_of(36)
ZONE = "topology.kubernetes.io/zone"


def offer(
    name: str = "n1", gpus: int = 0, *, zone: str = "", devices: Sequence[Device] = (), **more: Any
) -> Offer:
    """A node with this number of GPUs, or with these devices."""
    labels: Mapping[str, str] = {ZONE: zone} if zone else {}
    return offer_of(node(name, labels={**labels, **more.pop("labels", {})}, **more), gpus, devices)


def offer_of(own: Node, gpus: int = 0, devices: Sequence[Device] = ()) -> Offer:
    made = tuple(devices) or tuple(Device(name=f"gpu-{number}") for number in range(gpus))
    slices = ResourceSlice(
        name=own.name, driver="gpu.nvidia.com", pool=own.name, node_name=own.name, devices=made
    )
    return Offer(
        name=own.name,
        origin="observed",
        node=own,
        slices=(slices,) if made else (),
        count_min=1,
        count_max=1,
    )


def workload(
    made: Shape,
    pods: int = 1,
    *,
    name: str = "",
    kind: str = "Deployment",
    at: int = 0,
    **more: Any,
) -> Shape:
    """The pods of one workload; `at` is the line of its document."""
    ref = WorkloadRef(kind, made.namespace, name or f"w{at}")
    more.setdefault("spreads", kind in ("Deployment", "StatefulSet"))
    more.setdefault("in_order", kind == "StatefulSet")
    member = Member(
        workload=ref,
        pod_set="",
        figures=Figures.fixed(pods),
        place=Place("given", line=at + 1),
        **more,
    )
    return replace(
        made, id=f"{made.id}/{at}/{ref}", members=(member,), per_node=kind == "DaemonSet"
    )


def bare(made: Shape, name: str = "", at: int = 0) -> Shape:
    return workload(made, name=name or f"p{at}", kind="Pod", at=at)


def simulator(
    shapes: Sequence[Shape],
    offers: Sequence[Offer],
    *,
    features: Features = F36,
    profile: Profile = DEFAULT,
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
    budgets: Sequence[DisruptionBudget] = (),
) -> Simulator:
    demand = Demand(shapes=tuple(shapes), namespaces=namespaces or {}, budgets=tuple(budgets))
    return Simulator.of(demand, observed_nodes(offers), CLASSES, features, profile=profile)


def pods_by_node(
    shapes: Sequence[Shape], offers: Sequence[Offer], **more: Any
) -> dict[str, dict[str, int]]:
    """Return how many pods of each workload are on which node, when the documents come one after
    the other.
    """
    outcome = simulator(shapes, offers, **more).run()
    return {ref.name: dict(sorted(each.nodes.items())) for ref, each in outcome.workloads.items()}
