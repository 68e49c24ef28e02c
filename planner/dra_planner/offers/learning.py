"""Learn rows of a fleet's own catalog from running nodes.

Facts of a machine type are separated from facts of one node. Names, addresses, and versions belong
to a node, while models and amounts belong to its machine type. Two nodes with the same machine type
show which values vary. With one node, the result depends on the names and forms of values. Open
questions are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from dra_planner import catalog, clouds
from dra_planner.errors import CatalogError, PlannerError
from dra_planner.model import AttributeValue, Device, DeviceClass, ResourceSlice
from dra_planner.offers.device_lessons import DriverLesson, amount_texts, device_order
from dra_planner.offers.offer import Offer
from dra_planner.wording import counted, named, verb


class Learned(Struct, frozen=True):
    """Rows for a fleet's `catalog` as plain data, and sentences about facts that the capture
    doesn't show.
    """

    rows: tuple[Mapping[str, Any], ...]
    remarks: tuple[str, ...]


def learn_machines(
    observed: Iterable[Offer],
    classes: Mapping[str, DeviceClass],
    *,
    machine: str = "",
    cloud: str = "",
) -> Learned:
    """Return a row for each machine type of the observed nodes that publish devices.

    `machine` is the machine type of nodes without the label. `cloud` is the cloud whose tables
    contain the number of devices. Raises PlannerError for a capture without usable facts.
    """
    nodes = tuple(observed)
    if not nodes:
        raise PlannerError(
            "the snapshot doesn't contain a Node",
            fix=(
                "add the nodes to the snapshot: run `kubectl get "
                "nodes,resourceslices,deviceclasses -o "
                "json`"
            ),
        )
    remarks: list[str] = []
    by_machine: dict[str, list[Offer]] = {}
    unlabeled: list[str] = []
    for node in nodes:
        own = _own_slices(node, remarks)
        if not own:
            continue
        name = node.machine or machine
        if not name:
            unlabeled.append(node.name)
            continue
        by_machine.setdefault(name, []).append(node)
    if not by_machine:
        _raise_nothing(unlabeled, remarks)
    if unlabeled:
        text = (
            f"{named('node', unlabeled)} {verb(len(unlabeled), 'do')}n't have the label "
            "node.kubernetes.io/instance-type"
        )
        remarks.append(f"{text}; set the machine type with --machine")
    rows = [
        _MachineLesson(name, found, classes, cloud, remarks).row()
        for name, found in by_machine.items()
    ]
    return Learned(tuple(rows), tuple(dict.fromkeys(remarks)))


def _raise_nothing(unlabeled: Sequence[str], remarks: Sequence[str]) -> None:
    if unlabeled:
        text = (
            f"{named('node', unlabeled)} {verb(len(unlabeled), 'do')}n't have the label "
            "node.kubernetes.io/instance-type"
        )
        raise PlannerError(text, fix="set the machine type with --machine")
    if remarks:
        text = (
            "the snapshot doesn't contain a usable ResourceSlice: "
            f"{'; '.join(dict.fromkeys(remarks))}"
        )
        raise PlannerError(text, fix="add a Node with all its ResourceSlices to the snapshot")
    raise PlannerError(
        "the snapshot doesn't contain a ResourceSlice",
        fix="add the ResourceSlices to the snapshot: run `kubectl get "
        "nodes,resourceslices,deviceclasses -o json`",
    )


def _own_slices(node: Offer, remarks: list[str]) -> tuple[ResourceSlice, ...]:
    """Return the slices of a node's own complete pools, in each pool's newest generation."""
    own: list[ResourceSlice] = []
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for part in node.slices:
        if part.node_name == node.name:
            pools.setdefault((part.driver, part.pool), []).append(part)
        else:
            remarks.append(
                f"ResourceSlice {part.name} of driver {part.driver} isn't specific to one "
                "node, so it doesn't describe a machine type"
            )
    for (driver, pool), parts in pools.items():
        newest = max(part.generation for part in parts)
        current = [part for part in parts if part.generation == newest]
        wanted = max(part.slice_count for part in current)
        if len(current) < wanted:
            remarks.append(
                f"{driver}: pool {pool} has {wanted} slices, but the snapshot contains only "
                f"{len(current)}, so the catalog omits its devices"
            )
            continue
        if fault := _pool_fault(current):
            remarks.append(f"{driver}: pool {pool} {fault}, so the catalog omits this pool")
            continue
        own += current
    return tuple(own)


def _pool_fault(parts: Sequence[ResourceSlice]) -> str:
    """Return why nothing can be learned from the slices of a complete pool, or ""."""
    devices = [device for part in parts for device in part.devices]
    if not devices:
        return "doesn't have devices"
    sets = {each.name for part in parts for each in part.shared_counters}
    lacking = [
        (device.name, each.counter_set)
        for device in devices
        for each in device.consumes_counters
        if each.counter_set not in sets
    ]
    if not lacking:
        return ""
    name, counter_set = lacking[0]
    return f'doesn\'t have the counter set "{counter_set}", which device {name} consumes'


class _MachineLesson(Struct, frozen=True):
    """The nodes of one machine type, and the list to which notes are added."""

    name: str
    nodes: Sequence[Offer]
    classes: Mapping[str, DeviceClass]
    cloud: str
    remarks: list[str]

    def row(self) -> dict[str, Any]:
        node = self.nodes[0].node
        arch = node.meta.labels.get("kubernetes.io/arch", "amd64")
        row: dict[str, Any] = {"machine": self.name, "arch": arch}
        cloud = self.cloud or clouds.cloud_of_labels(node.meta.labels)
        known = _known_machine(cloud, self.name)
        if known is None:
            row |= {**self._size(), **_attached(cloud, node.meta.labels)}
        row["drivers"] = list(self._drivers(known))
        if len(self.nodes) == 1:
            self.remarks.append(
                f"{self.name}: the snapshot contains only one node, so the catalog guesses from "
                "names and formats which values differ between nodes; to confirm them, add a "
                "second node to the snapshot"
            )
        held = sum(len(each.allocated) for each in self.nodes)
        if held:
            self.remarks.append(
                f"{self.name}: claims use {counted(held, 'device')} on these nodes, and "
                "some drivers publish less for devices in use, so a snapshot of an idle node is better"
            )
        return row

    def _size(self) -> dict[str, Any]:
        """Return the size of a machine type that isn't in the tables: the minimum of its nodes'
        resources.
        """
        amounts = [each.node.allocatable for each in self.nodes]
        least = {key: min(each[key] for each in amounts if key in each) for key in amounts[0]}
        plain = {
            key: amount
            for key, amount in least.items()
            if key in ("cpu", "memory", "pods", "ephemeral-storage")
        }
        if not plain.get("cpu") or not plain.get("memory"):
            self.remarks.append(
                f"{self.name}: its nodes don't report allocatable CPU and memory, so the plan "
                "can't place pods on them"
            )
            return {}
        allocatable = {
            key: f"{value}m" if key == "cpu" else str(value) for key, value in plain.items()
        }
        self.remarks.append(
            f"{self.name}: this machine type isn't in the tables, so its size comes from a "
            "node's allocatable resources, and its price is unknown (set pricePerHour)"
        )
        whole_cpus = -(-plain["cpu"] // 1000)
        return {"cpu": str(whole_cpus), "memory": str(plain["memory"]), "allocatable": allocatable}

    def _drivers(self, known: catalog.Machine | None) -> Iterator[dict[str, Any]]:
        words: dict[str, dict[AttributeValue, str]] = {}
        per_node = [_devices_by_driver(_own_slices(each, [])) for each in self.nodes]
        for driver in sorted({driver for each in per_node for driver in each}):
            found = [
                (offer, each[driver])
                for offer, each in zip(self.nodes, per_node, strict=True)
                if driver in each
            ]
            if len(found) < len(self.nodes):
                without = [
                    offer.name for offer in self.nodes if offer not in [one for one, _ in found]
                ]
                self.remarks.append(
                    f"{self.name}: {driver} doesn't publish devices on {', '.join(without)}"
                )
            lesson = DriverLesson(
                self.name, driver, [devices for _, devices in found], words, self.remarks
            )
            row = lesson.row()
            counters = [
                part
                for offer, _ in found[:1]
                for part in _own_slices(offer, [])
                if part.driver == driver
            ]
            shared = [
                {"name": each.name, "counters": amount_texts(each.counters)}
                for part in counters
                for each in part.shared_counters
            ]
            if shared:
                row["sharedCounters"] = shared
            classes = [
                {"name": name, "selectors": [each.expression for each in found.selectors]}
                for name, found in sorted(self.classes.items())
                if any(driver in each.expression for each in found.selectors)
            ]
            if classes:
                row["classes"] = classes
            else:
                self.remarks.append(
                    f"{driver}: the snapshot doesn't contain a DeviceClass for this driver; add "
                    "deviceclasses to the snapshot, or create a DeviceClass"
                )
            self._check_count(driver, len(row["devices"]), known)
            yield row

    def _check_count(self, driver: str, count: int, known: catalog.Machine | None) -> None:
        accelerator = None if known is None else known.accelerator
        if accelerator is not None and accelerator.count is not None and count < accelerator.count:
            self.remarks.append(
                f"{self.name}: {driver} publishes {counted(count, 'device')}, but the machine "
                f"type has {accelerator.count} {accelerator.model}; the driver might have omitted "
                "broken devices"
            )


def _attached(cloud: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the type of the accelerators that a node pool attaches, on clouds whose nodes have the
    type as a label.
    """
    label = clouds.cloud(cloud).accelerator_label if cloud else ""
    return {"acceleratorType": labels[label]} if labels.get(label) else {}


def _known_machine(cloud: str, name: str) -> catalog.Machine | None:
    if not cloud:
        return None
    try:
        return catalog.machine(cloud, name)
    except CatalogError:
        return None


def _devices_by_driver(parts: Iterable[ResourceSlice]) -> dict[str, list[Device]]:
    found: dict[str, list[Device]] = {}
    for part in parts:
        found.setdefault(part.driver, []).extend(part.devices)
    return {
        driver: sorted(devices, key=device_order) for driver, devices in found.items() if devices
    }
