"""Build the objects of a plan's cluster: Nodes, ResourceSlices, DeviceClasses, and the bound daemon
pods of every node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.manifests import render_device_class, render_node
from dra_planner.model import AttributeValue, Device, DeviceClass, ResourceSlice, Unknown, Version
from dra_planner.offers import Deduction, Offer, PredictedNode, nodes_of, predict_system_offer
from dra_planner.plan import Plan
from dra_planner.slices import render_slice
from dra_planner.wording import named

Json = dict[str, Any]

DAEMON_NAMESPACE: Final = "kube-system"
DAEMON_LABEL: Final = "pulumi-dra/daemon-pod"
_INTEGERS: Final = ("numaNode", "mtu", "index", "minor")
_BOOLEANS: Final = ("ebpf", "sriov", "isSriovVf", "virtual")


class PlannedCluster(Struct, frozen=True):
    """The nodes of a plan by name, its pools, and the objects of the cluster in an order that an
    API server accepts. `invented` contains notes about invented values, which are unknown before
    the nodes exist.
    """

    pools: tuple[str, ...]
    nodes: Mapping[str, PredictedNode]
    objects: tuple[Json, ...]
    invented: tuple[str, ...]

    def pool_of(self, node: str) -> str:
        """Return the pool of a node. Raises KeyError for a node that isn't in the plan."""
        return self.nodes[node].pool


def planned_cluster(plan: Plan) -> PlannedCluster:
    """Return the cluster of a plan for a fleet. Each pool has its initial number of nodes."""
    assert plan.fleet is not None, "only a fleet's plan can be rehearsed"
    sizes = {pool.name: pool.nodes.desired for pool in plan.pools}
    return cluster_of(plan.fleet, plan.offers, plan.classes, sizes)


def cluster_of(
    fleet: Fleet,
    offers: Iterable[Offer],
    classes: Mapping[str, DeviceClass],
    sizes: Mapping[str, int],
) -> PlannedCluster:
    """Return the cluster of a fleet with the given number of nodes in each pool, system nodes
    first.
    """
    zones = _invented_zones(fleet)
    system = predict_system_offer(fleet)
    first = [(system, system.count_max)] if system else []
    pools = [(offer, sizes[offer.name]) for offer in offers] + first
    nodes = {
        each.node.name: each
        for offer, count in (*first, *pools)
        for each in nodes_of(offer, count, zones)
    }
    deductions = {offer.name: offer.deductions for offer, _ in pools}
    return PlannedCluster(
        pools=tuple(offer.name for offer, _ in pools),
        nodes=nodes,
        objects=(
            *(render_device_class(classes[name]) for name in sorted(classes)),
            *(as_ready(render_node(each.node), fleet.minor) for each in nodes.values()),
            *(render_slice(known_values(one)) for each in nodes.values() for one in each.slices),
            *(
                pod
                for each in nodes.values()
                for pod in _daemon_pods(each.node.name, deductions[each.pool])
            ),
        ),
        invented=tuple(_invented([offer for offer, _ in pools], zones)),
    )


def as_ready(node: Json, minor: int) -> Json:
    """Return a Node as its kubelet of a minor version would report it: ready, with a capacity equal
    to its allocatable resources.
    """
    allocatable = node["status"]["allocatable"]
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "rehearsed"}
    return {
        **node,
        "status": {
            "allocatable": allocatable,
            "capacity": allocatable,
            "conditions": [ready],
            "nodeInfo": {"kubeletVersion": f"v1.{minor}.0"},
        },
    }


def known_values(resource_slice: ResourceSlice) -> ResourceSlice:
    """Return the slice with a value for every attribute that is known only at run time.

    All devices of a group get the same value. If nothing is known about them, each device gets a
    different value.
    """
    node = resource_slice.node_name
    return replace(
        resource_slice,
        devices=tuple(
            replace(
                device,
                attributes={
                    name: _value(name, value, device, node)
                    for name, value in device.attributes.items()
                },
            )
            for device in resource_slice.devices
        ),
    )


def _value(name: str, value: AttributeValue, device: Device, node: str | None) -> AttributeValue:
    """Return a value of the attribute's type. A string ends with the name of the group or device,
    so that the group's devices have the same value.
    """
    if not isinstance(value, Unknown):
        return value
    plain = name.rpartition("/")[2]
    if plain.endswith("Version"):
        return Version("580.0.0")
    if plain in _INTEGERS:
        return 0
    if plain in _BOOLEANS:
        return False
    return f"{plain}-{value.group or f'{node}-{device.name}'}"[-64:].lstrip("-")


def _daemon_pods(node: str, deductions: tuple[Deduction, ...]) -> Iterator[Json]:
    for deduction in deductions:
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{deduction.name}-{node}"[:253],
                "namespace": DAEMON_NAMESPACE,
                "labels": {DAEMON_LABEL: "true"},
            },
            "spec": {
                "nodeName": node,
                "tolerations": [{"operator": "Exists"}],
                "containers": list(_daemon_containers(deduction)),
            },
        }


def daemon_of(pod: Json) -> str:
    """Return the name of a daemon pod's DaemonSet."""
    return str(pod["metadata"]["name"].removesuffix(f"-{pod['spec']['nodeName']}"))


def _daemon_containers(deduction: Deduction) -> Iterator[Json]:
    """Yield the containers of a daemon pod, which share its requests. Containers without requests
    affect the scheduler's scores.
    """
    for index in range(deduction.containers):
        shares = {
            name: amount // deduction.containers + (index < amount % deduction.containers)
            for name, amount in deduction.amounts.items()
            if name != "pods" and amount
        }
        requests = {name: _quantity(name, amount) for name, amount in shares.items()}
        yield {"name": f"daemon-{index}", "image": "daemon", "resources": {"requests": requests}}


def _quantity(resource: str, amount: int) -> str:
    return f"{amount}m" if resource == "cpu" else str(amount)


def _invented_zones(fleet: Fleet) -> tuple[str, ...]:
    """Return invented zones for a network that sets only the number of zones."""
    wanted = fleet.network.zones
    count = wanted if isinstance(wanted, int) else 1
    return tuple(f"{fleet.region}{suffix}" for suffix in cloud(fleet.cloud).zone_suffixes[:count])


def _invented(offers: Sequence[Offer], zones: tuple[str, ...]) -> Iterator[str]:
    without = [offer.name for offer in offers if not offer.zones]
    if without:
        yield (
            f"the fleet doesn't set zones for {named('pool', without)}, so the rehearsal assigns "
            f"{', '.join(zones)} to the nodes in turn"
        )
    names = {
        name.rpartition("/")[2]
        for offer in offers
        for one in offer.slices
        for device in one.devices
        for name, value in device.attributes.items()
        if isinstance(value, Unknown)
    }
    if names:
        yield (
            "these attributes have invented values, because they are known only at run time: "
            f"{', '.join(sorted(names))}"
        )
