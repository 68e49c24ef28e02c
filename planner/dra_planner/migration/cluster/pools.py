"""Devices of a running cluster by pool: units of device plugins, published devices, and devices
that pods hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import POOL, cloud, names
from dra_planner.documents.plain_values import block, blocks, labels, listed, number, text
from dra_planner.drivers import is_counted, publishers_of
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.device_plugins import is_device
from dra_planner.records import equality

_KARPENTER: Final = "karpenter.sh/nodepool"
Allocator = Literal["device-plugin", "dra", "both", "none"]


@equality(unhashed=("offered", "held"))
class PoolDevices(Struct, frozen=True, kw_only=True):
    """The nodes of a pool that have devices, or one node with devices that isn't in a pool.

    By resource, `offered` contains the units of device plugins, and `held` contains the units that
    pods hold. `published` is the number of devices that drivers publish, and `claimed` is the
    number of devices that claims hold. `contested` nodes have devices that both allocators
    allocate, or pods with units of a device plugin that no longer runs.
    """

    name: str
    nodes: int
    offered: Mapping[str, int]
    held: Mapping[str, int]
    published: int
    claimed: int
    contested: tuple[str, ...] = ()

    @property
    def allocator(self) -> Allocator:
        """Return the allocator of the devices."""
        if self.offered and self.published:
            return "both"
        return "device-plugin" if self.offered else "dra" if self.published else "none"


@equality(unhashed=("offered", "drivers"))
class NodeDevices(Struct, frozen=True, kw_only=True):
    """The devices of one node. `drivers` are the names of the drivers that publish devices."""

    name: str
    pool: str
    offered: Mapping[str, int]
    drivers: Mapping[str, int]


def nodes_with_devices(objects: Sequence[KubernetesObject]) -> Iterator[NodeDevices]:
    """Yield the nodes with units of device plugins, or with devices that a driver publishes."""
    published: dict[str, Counter[str]] = {}
    for item in objects:
        spec = block(item.data, "spec")
        driver = text(spec.get("driver"))
        if item.kind == "ResourceSlice" and spec.get("nodeName") and is_counted(driver):
            count = len(listed(spec.get("devices")))
            published.setdefault(text(spec["nodeName"]), Counter())[driver] += count
    for item in objects:
        if item.kind != "Node":
            continue
        allocatable = block(block(item.data, "status"), "allocatable")
        counts = {str(name): number(amount) or 0 for name, amount in allocatable.items()}
        offered = {name: count for name, count in counts.items() if count and is_device(name)}
        drivers = dict(published.get(item.name, {}))
        if offered or drivers:
            yield NodeDevices(
                name=item.name, pool=_pool_name(item), offered=offered, drivers=drivers
            )


def _pool_name(node: KubernetesObject) -> str:
    own = labels(node.metadata.get("labels"))
    keys = (POOL, _KARPENTER, *(cloud(name).pool_label for name in names()))
    return next((own[key] for key in keys if key and key in own), node.name)


def claimed_devices(objects: Iterable[KubernetesObject]) -> Counter[str]:
    """Return how many devices of each node claims hold. Drivers name pools after nodes."""
    found: Counter[str] = Counter()
    for item in objects:
        if item.kind == "ResourceClaim":
            devices = block(block(block(item.data, "status"), "allocation"), "devices")
            for each in blocks(devices, "results"):
                if not each.get("adminAccess") and is_counted(text(each.get("driver"))):
                    found[text(each.get("pool"))] += 1
    return found


def pools_of(
    nodes: Iterable[NodeDevices], held: Mapping[str, Mapping[str, int]], claimed: Mapping[str, int]
) -> tuple[PoolDevices, ...]:
    """Return the sorted pools of nodes.

    `held` are the units of device plugins that pods hold on each node.
    """
    found: dict[str, PoolDevices] = {}
    for node in nodes:
        own = held.get(node.name, {})
        old = found.get(
            node.pool,
            PoolDevices(name=node.pool, nodes=0, offered={}, held={}, published=0, claimed=0),
        )
        found[node.pool] = replace(
            old,
            nodes=old.nodes + 1,
            offered=dict(Counter(old.offered) + Counter(node.offered)),
            held=dict(Counter(old.held) + Counter(own)),
            published=old.published + sum(node.drivers.values()),
            claimed=old.claimed + claimed.get(node.name, 0),
            contested=(*old.contested, node.name) if _is_contested(node, own) else old.contested,
        )
    return tuple(found[name] for name in sorted(found))


def _is_contested(node: NodeDevices, held: Mapping[str, int]) -> bool:
    return any(publishers_of(resource) & node.drivers.keys() for resource in {*node.offered, *held})
