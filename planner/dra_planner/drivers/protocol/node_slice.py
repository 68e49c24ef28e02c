"""One slice with all devices of a node, as most drivers publish them."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.model import Device, ResourceSlice


def node_slice(domain: str, node_name: str, devices: Iterable[Device]) -> tuple[ResourceSlice, ...]:
    """Return the slice of a node's devices in a pool named after the node, or nothing without
    devices.
    """
    found = tuple(devices)
    if not found:
        return ()
    name = f"00000-{domain}-{node_name}"
    return (
        ResourceSlice(name=name, driver=domain, pool=node_name, node_name=node_name, devices=found),
    )
