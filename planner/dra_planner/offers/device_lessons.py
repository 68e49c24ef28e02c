"""Facts about all nodes of a machine type, learned value by value from the devices of captured
nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.model import AttributeValue, Device, DeviceCapacity, RequestPolicy, Version
from dra_planner.quantity import Quantity

_OF_DEVICES: Final = re.compile(
    r"uuid|serial|mac|ipv[46]|ifname|alias|(pci|pcie)?(address|addr|busid)|(card|render)index|minor|uniqueid|sid",
    re.I,
)
"""Names of attributes that identify one device."""
_OF_NODES: Final = re.compile(
    r".*version.*|networknodelayer\d|(sub)?block|host|placementgroupid|interconnect(sub)?groupid|capacityblockid|"
    r"cluster(uuid|id)|networkname|networkprojectnumber|ipaliases|driver|state|health|addressingmode|mtu|rdmadevice",
    re.IGNORECASE,
)
"""Names of attributes whose values depend on an image, a placement, or the state of a node."""
_OF_PLACES: Final = re.compile(
    r"pcie?root|numanode(id)?|socketid|iommugroup|parent\w*|pfpciaddress", re.IGNORECASE
)
"""Names of attributes that describe the place of a device. The machine type determines which
devices share a value.
"""
_IDENTITY: Final = re.compile(
    r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|([0-9a-f]{2}:){5}[0-9a-f]{2}|\d+\.\d+\.\d+\.\d+(/\d+)?(,.*)?|"
    r".*[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    re.IGNORECASE,
)
"""Values that identify something: PCI and MAC addresses, IP addresses, UUIDs."""
_NUMBER: Final = re.compile(r"\d+")


class DriverLesson(Struct, frozen=True):
    """The devices of one driver on each captured node of a machine type.

    `words` are placeholders for values of attributes that devices of several drivers share (PCIe
    roots).
    """

    machine: str
    driver: str
    nodes: Sequence[Sequence[Device]]
    words: dict[str, dict[AttributeValue, str]]
    remarks: list[str]

    def row(self) -> dict[str, Any]:
        most = max(len(devices) for devices in self.nodes)
        full = [devices for devices in self.nodes if len(devices) == most]
        if len(full) < len(self.nodes):
            fewer = sorted({len(devices) for devices in self.nodes} - {most})
            self.remarks.append(
                f"{self.machine}: {self.driver} publishes {', '.join(map(str, fewer))} or "
                f"{most} devices, depending on the node. The catalog uses {most}, because a driver "
                "might omit broken devices"
            )
        names = self._names(full)
        places: dict[str, list[dict[str, Any]]] = {}
        for attribute in sorted({name for device in full[0] for name in device.attributes}):
            places[attribute] = self._values(attribute, full)
        devices = [self._device(index, names[index], full, places) for index in range(most)]
        tainted = [device.name for each in self.nodes for device in each if device.taints]
        if tainted:
            self.remarks.append(
                f"{self.driver}: the taints of {', '.join(tainted[:4])} are specific to these "
                "nodes, so the catalog omits them"
            )
        return {"driver": self.driver, "devices": devices}

    def _names(self, nodes: Sequence[Sequence[Device]]) -> list[str]:
        """Return the names of devices, unchanged if they follow a rule, otherwise numbered."""
        names = [[device.name for device in each] for each in nodes]
        if all(each == names[0] for each in names[1:]) and (
            len(names) > 1 or _follow_rule(names[0])
        ):
            return names[0]
        self.remarks.append(
            f"{self.driver}: device names are specific to each node ({names[0][0]}), so the "
            "catalog numbers the devices"
        )
        stem = re.sub(r"[^a-z]", "", self.driver.partition(".")[0].lower()) or "device"
        return [f"{stem}-{index}" for index in range(len(names[0]))]

    def _values(self, attribute: str, nodes: Sequence[Sequence[Device]]) -> list[dict[str, Any]]:
        """Return the learned values of an attribute by device, or {} for devices without it."""
        columns = [[device.attributes.get(attribute) for device in each] for each in nodes]
        first = columns[0]
        own = attribute.rpartition("/")[2]
        varies = any(each != first for each in columns[1:])
        present = [value for value in first if value is not None]
        if _OF_DEVICES.fullmatch(own) or any(
            isinstance(value, str) and _IDENTITY.fullmatch(value) for value in present
        ):
            return [_none(value) or self._identity(present) for value in first]
        if _OF_PLACES.fullmatch(own):
            if len(columns) > 1 and not varies:
                return [_literal(value) for value in first]
            return _groups(first, self.words.setdefault(attribute, {}))
        if _OF_NODES.fullmatch(own) or any(isinstance(value, Version) for value in present):
            same = len(set(present)) == 1
            if own.lower() == "cudacomputecapability":
                return [_literal(value) for value in first]
            return [_none(value) or {"unknown": "node" if same else "any"} for value in first]
        if varies:
            self.remarks.append(
                f"{self.driver}: {attribute} differs between nodes, so its values are unknown"
            )
            same = all(len({value for value in each if value is not None}) == 1 for each in columns)
            return [_none(value) or {"unknown": "node" if same else "any"} for value in first]
        return [_literal(value) for value in first]

    def _identity(self, present: Sequence[AttributeValue]) -> dict[str, Any]:
        if len(present) > 1 and len(set(present)) == 1:
            return {"unknown": "node"}  # for example the single UUID of all TPU chips on a node
        return {"unknown": "device"}

    def _device(
        self,
        index: int,
        name: str,
        nodes: Sequence[Sequence[Device]],
        places: Mapping[str, list[dict[str, Any]]],
    ) -> dict[str, Any]:
        device = nodes[0][index]
        found: dict[str, Any] = {"name": name}
        attributes = {key: values[index] for key, values in places.items() if values[index]}
        if attributes:
            found["attributes"] = attributes
        capacity = {
            key: self._capacity(key, [each[index].capacity.get(key) for each in nodes])
            for key in device.capacity
        }
        if capacity:
            found["capacity"] = capacity
        if device.allow_multiple_allocations:
            found["allowMultipleAllocations"] = True
        if device.consumes_counters:
            found["consumesCounters"] = [
                {"name": each.counter_set, "counters": amount_texts(each.counters)}
                for each in device.consumes_counters
            ]
        return found

    def _capacity(self, name: str, observed: Sequence[DeviceCapacity | None]) -> dict[str, Any]:
        amounts = {str(each.value) for each in observed if each is not None}
        first = observed[0]
        found: dict[str, Any] = {}
        if len(amounts) == 1 and first is not None:
            found["value"] = amounts.pop()
            if found["value"] == "0":
                self.remarks.append(
                    f"{self.driver}: {name} is 0, possibly because the driver couldn't read the "
                    "amount"
                )
        else:
            self.remarks.append(
                f"{self.driver}: {name} differs between nodes, so its amount is unknown"
            )
        if first is not None and first.request_policy is not None:
            found["requestPolicy"] = _policy(first.request_policy)
        return found


def device_order(device: Device) -> tuple[Any, ...]:
    """Return a sort key for names with numbers: gpu-2 before gpu-10."""
    parts = re.split(r"(\d+)", device.name)
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in parts)


def _follow_rule(names: Sequence[str]) -> bool:
    """Return whether names count up from 0 (gpu-0, gpu-1; cpudevnuma000), or are parts of such
    names (gpu-0-mig-19-0-1).
    """
    shapes = {_NUMBER.sub("#", name) for name in names}
    counts = [[int(each) for each in _NUMBER.findall(name)] for name in names]
    if all(len(each) == 1 for each in counts):
        return len(shapes) == 1 and [each[0] for each in counts] == list(range(len(names)))
    return all(name[0].isalpha() for name in names) and all(
        each and each[0] < len(names) for each in counts
    )


def _groups(
    values: Sequence[AttributeValue | None], words: dict[AttributeValue, str]
) -> list[dict[str, Any]]:
    """Return the groups of devices with equal values, without the values. `words` include the
    node's other drivers.
    """
    return [
        {} if value is None else {"equal": words.setdefault(value, f"g{len(words)}")}
        for value in values
    ]


def _none(value: AttributeValue | None) -> dict[str, Any] | None:
    return {} if value is None else None


def _literal(value: AttributeValue | None) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, Version):
        return {"version": value.text}
    if isinstance(value, tuple):
        return {"strings": [str(each) for each in value]}
    return {"string": str(value)}


def amount_texts(amounts: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}


def _policy(policy: RequestPolicy) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if policy.default is not None:
        found["default"] = str(policy.default)
    if policy.valid_values:
        found["validValues"] = [str(each) for each in policy.valid_values]
    if policy.valid_range is not None:
        bounds = policy.valid_range
        pairs = (("min", bounds.minimum), ("max", bounds.maximum), ("step", bounds.step))
        found["validRange"] = {key: str(value) for key, value in pairs if value is not None}
    return found
