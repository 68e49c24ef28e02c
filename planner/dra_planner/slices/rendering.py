"""Convert predicted slices to API objects. Unknown values are omitted and listed in an
annotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dra_planner import manifests
from dra_planner.model import AttributeValue, Device, DeviceCapacity, ResourceSlice, Unknown

UNKNOWN_ANNOTATION = "pulumi-dra/unknown"


def render_slice(resource_slice: ResourceSlice) -> dict[str, Any]:
    """Return a ResourceSlice in the form for `kubectl apply`.

    The annotation `pulumi-dra/unknown` lists values that only real nodes publish, in the form of
    `describe_unknown`. It's missing if all values are known.
    """
    known = replace(
        resource_slice, devices=tuple(_known(device) for device in resource_slice.devices)
    )
    document = manifests.render_slice(known)
    unknown = describe_unknown(resource_slice)
    if unknown:
        document["metadata"]["annotations"] = {UNKNOWN_ANNOTATION: "; ".join(unknown)}
    return document


def describe_unknown(resource_slice: ResourceSlice) -> tuple[str, ...]:
    """Return a line for each attribute or capacity that is known only at run time, in the driver's
    order.

    "uuid": its values are completely unknown. "driverVersion (equal on all)": one value for all
    devices that have it. "resource.kubernetes.io/pcieRoot (equal on gpu-0, gpu-1)": one value for
    these devices, and another for other devices.
    """
    holders: dict[str, dict[str, list[str]]] = {}
    for device in resource_slice.devices:
        for name, value in (*device.attributes.items(), *_amounts(device.capacity)):
            if isinstance(value, Unknown):
                holders.setdefault(name, {}).setdefault(value.group, []).append(device.name)
    return tuple(line for name, groups in holders.items() for line in _lines(name, groups))


def _lines(name: str, groups: Mapping[str, list[str]]) -> list[str]:
    shared = {group: devices for group, devices in groups.items() if group and len(devices) > 1}
    if len(groups) == 1 and shared:
        return [f"{name} (equal on all)"]
    equal = [f"{name} (equal on {', '.join(devices)})" for devices in shared.values()]
    return equal if len(shared) == len(groups) else [name, *equal]


def _known(device: Device) -> Device:
    return replace(
        device,
        attributes={
            name: value
            for name, value in device.attributes.items()
            if not isinstance(value, Unknown)
        },
        capacity={
            name: capacity
            for name, capacity in device.capacity.items()
            if not isinstance(capacity.value, Unknown)
        },
    )


def _amounts(capacity: Mapping[str, DeviceCapacity]) -> list[tuple[str, AttributeValue]]:
    return [
        (name, amount.value)
        for name, amount in capacity.items()
        if isinstance(amount.value, Unknown)
    ]
