"""Compare predicted and observed nodes, and report every difference between the plan and the real
nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from dra_planner.clouds import POOL
from dra_planner.drivers.dranet import RDMA
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown
from dra_planner.offers.offer import Offer
from dra_planner.quantity import Quantity

Aspect = Literal[
    "nodes",
    "machine",
    "label",
    "taint",
    "cordoned",
    "allocatable",
    "driver",
    "count",
    "attribute",
    "capacity",
    "device-taint",
    "device-health",
    "class",
    "release",
    "guard",
    "pod",
]
_CORDON: Final = "node.kubernetes.io/unschedulable"
_BYTES: Final = ("memory", "ephemeral-storage", "hugepages-")
_OF_ONE_NODE = (
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)
Value = AttributeValue | Quantity | None


class NodeDifference(Struct, frozen=True, order=True):
    """One difference from the prediction. An empty text means that the value doesn't exist on that
    side.
    """

    pool: str
    node: str
    aspect: Aspect
    subject: str  # a driver, a device, a label, or a resource; "" for the node itself
    field: str  # the attribute or capacity; "" if the subject is sufficient
    predicted: str
    observed: str

    def __str__(self) -> str:
        where = " ".join(
            part for part in (self.node or self.pool, self.subject, self.field) if part
        )
        return (
            f"{where}: {self.aspect} predicted {self.predicted or 'none'}, observed "
            f"{self.observed or 'none'}"
        )


class Verification(Struct, frozen=True, kw_only=True):
    """Every difference, sorted, and the compared objects: nodes by pool, pools without nodes, and
    nodes without a pool.
    """

    differences: tuple[NodeDifference, ...]
    compared: Mapping[str, tuple[str, ...]]
    pools_without_nodes: tuple[str, ...]
    nodes_without_pool: tuple[str, ...]  # contains only nodes that publish devices

    @property
    def holds(self) -> bool:
        """Whether every compared node matches its prediction."""
        return not self.differences


def verify_offers(
    predicted: Iterable[Offer],
    observed: Iterable[Offer],
    counts: Mapping[str, tuple[int, int]] | None = None,
) -> Verification:
    """Compare each observed node with the pool in its label `pulumi-dra/pool`, or with the pool of
    its machine type.

    `counts` are the plan's minimum and maximum nodes of a pool. Without them, the fleet's limits
    apply. A value that was predicted as unknown isn't a difference, unless predicted equalities or
    inequalities between values are wrong.
    """
    pools = tuple(predicted)
    members: dict[str, list[Offer]] = {pool.name: [] for pool in pools}
    strangers: list[str] = []
    for node in observed:
        name = pool_of(node, pools)
        if name is not None:
            members[name].append(node)
        elif any(each.devices for each in node.slices):
            strangers.append(node.name)
    differences: list[NodeDifference] = []
    for pool in pools:
        least, most = (counts or {}).get(pool.name, (pool.count_min, pool.count_max))
        differences.extend(_counted(pool, members[pool.name], least, most))
        for node in members[pool.name]:
            differences.extend(_node_differences(pool, node))
    return Verification(
        differences=tuple(sorted(differences)),
        compared={
            name: tuple(node.name for node in nodes) for name, nodes in members.items() if nodes
        },
        pools_without_nodes=tuple(name for name, nodes in members.items() if not nodes),
        nodes_without_pool=tuple(sorted(strangers)),
    )


def pool_of(node: Offer, pools: Sequence[Offer]) -> str | None:
    """Return the pool of an observed node: the pool in its label `pulumi-dra/pool`, or the only
    pool with its machine type.
    """
    label = node.node.meta.labels.get(POOL)
    if label is not None:
        return label if any(pool.name == label for pool in pools) else None
    of_type = [pool.name for pool in pools if pool.machine.partition("+")[0] == node.machine]
    return of_type[0] if len(of_type) == 1 else None


def _counted(
    pool: Offer, nodes: Sequence[Offer], least: int, most: int
) -> Iterator[NodeDifference]:
    if not least <= len(nodes) <= most:
        expected = f"{least} to {most}" if least != most else str(least)
        yield NodeDifference(pool.name, "", "nodes", "", "", expected, str(len(nodes)))


def _node_differences(pool: Offer, node: Offer) -> Iterator[NodeDifference]:
    def differs(
        aspect: Aspect, subject: str, predicted: str, observed: str, field: str = ""
    ) -> NodeDifference:
        return NodeDifference(pool.name, node.name, aspect, subject, field, predicted, observed)

    machine = pool.machine.partition("+")[0]
    if node.machine and machine != node.machine:
        yield differs("machine", "", machine, node.machine)
    for key, value in pool.node.meta.labels.items():
        if key not in _OF_ONE_NODE and node.node.meta.labels.get(key) != value:
            yield differs("label", key, value, node.node.meta.labels.get(key, ""))
    if node.node.unschedulable:
        yield differs("cordoned", "", "", "cordoned")
    present = {
        taint
        for taint in node.node.taints
        if not (node.node.unschedulable and taint.key == _CORDON)
    }
    for taint in sorted({*pool.node.taints} ^ present, key=str):
        known = taint in pool.node.taints
        yield differs("taint", taint.key, str(taint) if known else "", "" if known else str(taint))
    for resource, amount in pool.node.allocatable.items():
        real = node.node.allocatable.get(resource)
        most = pool.at_most.get(resource, amount)
        if real is None or not amount <= real <= most:
            shown = _amount(resource, amount)
            expected = shown if most == amount else f"{shown} to {_amount(resource, most)}"
            yield differs(
                "allocatable", resource, expected, "" if real is None else _amount(resource, real)
            )
    drivers = {each.driver for each in (*pool.slices, *node.slices)}
    for driver in sorted(drivers):
        yield from _driver_differences(pool, node, driver)


def _driver_differences(pool: Offer, node: Offer, driver: str) -> Iterator[NodeDifference]:
    expected, real = _devices(pool.slices, driver), _devices(node.slices, driver)
    if not expected or not real:
        plural = (
            f"{len(expected)} devices" if expected else "",
            f"{len(real)} devices" if real else "",
        )
        if expected or real:
            yield NodeDifference(pool.name, node.name, "driver", driver, "", *plural)
        return
    for kind in sorted({_kind(device) for device in (*expected, *real)}):
        ours = [device for device in expected if _kind(device) == kind]
        theirs = [device for device in real if _kind(device) == kind]
        if len(ours) != len(theirs) and not any(device.may_be_several for device in ours):
            yield NodeDifference(
                pool.name, node.name, "count", driver, kind, str(len(ours)), str(len(theirs))
            )
        for one, other in _pairs(ours, theirs):
            yield from _device_differences(pool, node, one, other)
        yield from _group_differences(pool, node, driver, _pairs(ours, theirs))


def _amount(resource: str, amount: int) -> str:
    """Return an amount in readable form: CPU in cores or thousandths, bytes in binary units."""
    if resource == "cpu":
        return f"{amount // 1000}" if amount % 1000 == 0 else f"{amount}m"
    if not resource.startswith(_BYTES):
        return str(amount)
    for power, suffix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if amount and amount % (1 << power) == 0:
            return f"{amount >> power}{suffix}"
    return f"{amount / (1 << 20):.1f}Mi" if amount >= 1 << 20 else str(amount)


def _devices(slices: Iterable[ResourceSlice], driver: str) -> list[Device]:
    return [device for each in slices if each.driver == driver for device in each.devices]


def _kind(device: Device) -> str:
    """Return the kind of a device: the kind that the NVIDIA driver publishes, or whether an
    interface supports RDMA.
    """
    is_rdma = device.attributes.get(RDMA)
    if isinstance(is_rdma, bool):
        return "rdma" if is_rdma else "netdev"
    kind = device.attributes.get("type")
    return kind if isinstance(kind, str) else "device"


def _pairs(ours: Sequence[Device], theirs: Sequence[Device]) -> list[tuple[Device, Device]]:
    """Pair devices by name if names match or counts differ, otherwise by profile and then in the
    order of names.
    """
    named = {device.name: device for device in theirs}
    if len(ours) != len(theirs) or all(device.name in named for device in ours):
        return [(device, named[device.name]) for device in ours if device.name in named]

    def rank(device: Device) -> tuple[str, int, str]:
        return str(device.attributes.get("profile", "")), len(device.name), device.name

    return list(zip(sorted(ours, key=rank), sorted(theirs, key=rank), strict=True))


def _device_differences(
    pool: Offer, node: Offer, ours: Device, theirs: Device
) -> Iterator[NodeDifference]:
    amounts = {name: capacity.value for name, capacity in ours.capacity.items()}
    real_amounts = {name: capacity.value for name, capacity in theirs.capacity.items()}
    sides: tuple[tuple[Aspect, Mapping[str, Value], Mapping[str, Value]], ...] = (
        ("attribute", ours.attributes, theirs.attributes),
        ("capacity", amounts, real_amounts),
    )
    for aspect, expected, real in sides:
        for name in sorted({*expected, *real}):
            before, after = expected.get(name), real.get(name)
            if not isinstance(before, Unknown) and before != after:
                yield NodeDifference(
                    pool.name, node.name, aspect, theirs.name, name, _text(before), _text(after)
                )
    for taint in theirs.taints:
        text = f"{taint.key}={taint.value}:{taint.effect}"
        yield NodeDifference(pool.name, node.name, "device-taint", theirs.name, taint.key, "", text)


def _group_differences(
    pool: Offer, node: Offer, driver: str, pairs: Sequence[tuple[Device, Device]]
) -> Iterator[NodeDifference]:
    """Yield values that were predicted as equal within a group, or as different between groups, but
    aren't.
    """
    groups: dict[str, dict[str, set[str]]] = {}
    for ours, theirs in pairs:
        for name, value in ours.attributes.items():
            if isinstance(value, Unknown) and value.group and name in theirs.attributes:
                groups.setdefault(name, {}).setdefault(value.group, set()).add(
                    _text(theirs.attributes[name])
                )
    for name, values in sorted(groups.items()):
        for group, texts in sorted(values.items()):
            if len(texts) > 1:
                seen = ", ".join(sorted(texts))
                yield NodeDifference(
                    pool.name, node.name, "attribute", driver, name, f"one value ({group})", seen
                )
        single = [next(iter(texts)) for texts in values.values() if len(texts) == 1]
        if len(single) != len(set(single)):
            distinct = f"{len(single)} different values"
            yield NodeDifference(
                pool.name, node.name, "attribute", driver, name, distinct, f"{len(set(single))}"
            )


def _text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
