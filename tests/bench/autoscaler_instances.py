"""The Cluster Autoscaler's own benchmark shapes as demand and pools, and its rule.

Shapes of nodes and claims come from kubernetes-sigs/cluster-autoscaler:
pkg/estimator/binpacking_estimator_dra_profiles_test.go@d69b18b (draProfiles). The benchmark sizes
their pending pods on new nodes. `equal_pods` is the case in proposals/scalability_tests.md of that
repository: 30,000 identical pods, 30 per node. The rule is re-implemented from
estimator/decreasing_pod_orderer.go@2fc0cb0 and expander/waste, with the placements that sizing
allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    Container,
    Demand,
    Device,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    Figures,
    Member,
    Node,
    ObjectKey,
    ObjectMeta,
    PodSpec,
    ResourceSlice,
    Shape,
    ShapeClaim,
    WorkloadRef,
)
from dra_planner.offers import Offer
from dra_planner.releases import Features
from dra_planner.sizing.items import split_demand
from dra_planner.sizing.packing.compatibility import Compatibility, find_compatibility
from dra_planner.sizing.packing.empty_nodes import Nodes
from dra_planner.sizing.packing.first_fit import Packing, pack

_MOST_DEVICES = 128  # of one slice
# of a node, in thousandths and bytes, as in the benchmark
_CPU, _MEMORY, _PODS = 64_000, 256_000, 110


class Profile(NamedTuple):
    """Devices of a node by driver, pending pods, devices of each claim, and pods that share a claim
    (0: none).
    """

    drivers: tuple[tuple[str, str, int], ...]  # driver, class, devices
    pods: int
    devices: int = 1
    sharing: int = 0


_GPU, _MIG = "gpu.nvidia.com", "mig.nvidia.com"
_GPUS = ((_GPU, _GPU, 8),)
PROFILES = {
    "gpu8/exclusive": Profile(_GPUS, 300),
    "gpu8/wholeNode": Profile(_GPUS, 200, devices=8),
    "mig56/fractional": Profile(((_GPU, _MIG, 56),), 300),
    "devices256/multiSlice": Profile(((_GPU, _MIG, 256),), 200),
    "multiDriver/gpu+net+computeDomain": Profile(
        (
            *_GPUS,
            ("dra.net", "dra.net", 4),
            ("compute-domain.nvidia.com", "compute-domain-default-channel.nvidia.com", 2),
        ),
        250,
    ),
    "gpu8/sharedClaims": Profile(_GPUS, 240, sharing=4),
    "gpu8/manyClaimsFewPods": Profile(_GPUS, 3),
    "gpu8/existingUnallocated": Profile(_GPUS, 200),
    "noGain/draFleetNonDraPods": Profile(_GPUS, 300, devices=0),
}


def profile(name: str) -> tuple[Demand, tuple[Offer, ...], Mapping[str, DeviceClass]]:
    """Return the pending pods, one pool of new nodes, and the classes."""
    drivers, pods, devices, sharing = PROFILES[name]
    classes = {
        of: DeviceClass(meta=ObjectMeta(name=of), selectors=(_of(driver),))
        for driver, of, _ in drivers
    }
    spec = _claim(drivers[0][1], drivers[0][0], devices)
    if sharing:
        shapes = [
            _shape(
                f"sharing-{at}",
                sharing,
                (ShapeClaim(name="claim", spec=spec, shared=ObjectKey("default", f"shared-{at}")),),
            )
            for at in range(pods // sharing)
        ]
    else:
        shapes = [
            _shape("waiting", pods, (ShapeClaim(name="claim", spec=spec),) if devices else ())
        ]
    slices = tuple(each for driver, _, count in drivers for each in _slices(driver, count))
    return Demand(shapes=tuple(shapes)), (_offer("group", slices),), classes


def equal_pods(pods: int = 30_000, each_node: int = 30) -> tuple[Demand, tuple[Offer, ...]]:
    """Return identical pods and their pool, in which each node fits `each_node` pods."""
    return Demand(shapes=(_shape("web", pods, (), cpu=_CPU // each_node),)), (_offer("group", ()),)


def _of(driver: str) -> CelSelector:
    return CelSelector(f'device.driver == "{driver}"')


def _claim(device_class: str, driver: str, count: int) -> ClaimSpec:
    exactly = ExactDeviceRequest(
        device_class_name=device_class, count=count, selectors=(_of(driver),)
    )
    return ClaimSpec(requests=(DeviceRequest(name="req", exactly=exactly),))


def _shape(name: str, pods: int, claims: tuple[ShapeClaim, ...], cpu: int = 500) -> Shape:
    member = Member(
        workload=WorkloadRef("Deployment", "default", name), pod_set="", figures=Figures.fixed(pods)
    )
    return Shape(
        id=name,
        namespace="default",
        labels={"app": name},
        pod=PodSpec(containers=(Container(name="main", requests={"cpu": cpu, "memory": 1000}),)),
        claims=claims,
        members=(member,),
    )


def _slices(driver: str, count: int) -> list[ResourceSlice]:
    parts = [
        range(start, min(start + _MOST_DEVICES, count)) for start in range(0, count, _MOST_DEVICES)
    ]
    return [
        ResourceSlice(
            name=f"node-{driver}-{at}",
            driver=driver,
            pool=f"node-{driver}",
            node_name="node",
            slice_count=len(parts),
            devices=tuple(
                Device(name=f"dev-{number}", attributes={"index": number}) for number in part
            ),
        )
        for at, part in enumerate(parts)
    ]


def _offer(name: str, slices: tuple[ResourceSlice, ...]) -> Offer:
    return Offer(
        name=name,
        origin="predicted",
        node=Node(
            meta=ObjectMeta(name="node", labels={}),
            allocatable={"cpu": _CPU, "memory": _MEMORY, "pods": _PODS},
        ),
        slices=slices,
        count_min=0,
        count_max=10**9,
        hourly_usd=Decimal(1),
        zones=("zone-a",),
    )


def autoscaler_rule(
    demand: Demand, offers: Sequence[Offer], classes: Mapping[str, DeviceClass], features: Features
) -> Decimal:
    """Return the cost of the nodes that the autoscaler adds for pending pods, one pool after
    another.

    The rule fills each pool separately with the pods that fit there (first fit, largest sum of CPU
    and memory shares first). It then grows the pool that wastes the least CPU and memory, and
    repeats the steps for the pods that are still pending.
    """
    nodes = Nodes.of(offers, classes, features, demand)
    items = split_demand(demand, "steady").items
    found = find_compatibility(items, (), nodes, [(offer.name, 0, None) for offer in offers])
    left = {item: each.count for item, each in enumerate(found.items) if found.takers[item]}
    total = Decimal(0)
    while left:
        grown = [_grown(found, pool, left) for pool in range(len(offers))]
        options = [
            (_waste(found, pool, packing), pool)
            for pool, packing in enumerate(grown)
            if packing.opened[pool]
        ]
        _, best = min(options)
        total += grown[best].opened[best] * (offers[best].hourly_usd or Decimal(0))
        for (item, _), count in grown[best].placed.items():
            left[item] -= count
        left = {item: count for item, count in left.items() if count}
    return total


def _grown(found: Compatibility, pool: int, left: Mapping[int, int]) -> Packing:
    """Return the nodes of one pool, filled with the pending pods that fit there."""
    free = found.rooms[pool].empty.state.node.allocatable

    def score(item: int) -> float:
        return sum(
            found.items[item].requests.get(name, 0) / free[name] for name in ("cpu", "memory")
        )

    mine = [item for item in left if pool in found.takers[item]]
    order = sorted(mine, key=lambda item: (-score(item), item))
    wanted = {item: found.items[item].times(left[item]) for item in mine}

    def choose(item: int, count: int, _: Sequence[int | None]) -> tuple[int, int]:
        return pool, max(1, count // found.fills[item, pool])

    return pack(
        wanted,
        order,
        found.rooms,
        [0] * len(found.rooms),
        found.takers,
        found.nodes.filling,
        choose,
    )


def _waste(found: Compatibility, pool: int, packing: Packing) -> float:
    free, waste = found.rooms[pool].empty.state.node.allocatable, 0.0
    for name in ("cpu", "memory"):
        used = sum(
            count * found.items[item].requests.get(name, 0)
            for (item, _), count in packing.placed.items()
        )
        waste += 1 - used / (packing.opened[pool] * free[name])
    return waste
