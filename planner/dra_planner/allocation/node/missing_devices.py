"""Fixes for nodes that don't publish the devices of a request at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_planner.allocation.node.device_pools import DevicePool
from dra_planner.allocation.node.template import Template
from dra_planner.claims.requested_drivers import named_drivers
from dra_planner.drivers import driver_of
from dra_planner.model import Reason
from dra_planner.wording import either

_NO_DEVICES: Final = "use a pool with devices on its nodes"


def fix_of_missing_devices(template: Template) -> str:
    """Return the fix for a node that doesn't publish any devices."""
    if not template.is_observed:
        return _NO_DEVICES
    return "run a DRA driver on the node so that it publishes devices, or add a node with devices"


def fix_of_plugin_devices(template: Template) -> str:
    """Return the fix for a node whose devices a device plugin allocates."""
    if not template.is_observed:
        return "use a pool with devices that a DRA driver allocates"
    return (
        "replace the device plugin on the node with a DRA driver, or request the plugin's resource"
    )


def fix_of_other_driver(device_class: str, template: Template) -> str:
    """Return the fix for a class that selects another driver than the devices of the node have, or
    "" for other classes.
    """
    own = template.classes.get(device_class)
    wanted = named_drivers(each.expression for each in own.selectors) if own else set[str]()
    published = {each.driver for each in template.candidates if each.bit & template.searched}
    if not wanted or not published or wanted & published:
        return ""
    names = either(sorted(wanted))
    alike = {name for name in published if any(_is_alike(name, each) for each in wanted)}
    if not alike:
        return f"use nodes with devices of {names}"
    return f"use nodes with devices of {names}, or use a DeviceClass for {either(sorted(alike))}"


def _is_alike(one: str, other: str) -> bool:
    """Return whether two drivers are known, and both publish accelerators or both network
    devices.
    """
    owners = driver_of(one), driver_of(other)
    kinds = {None if owner is None else owner.is_network for owner in owners}
    return len(kinds) == 1 and None not in kinds


def unusable_pools(pools: Sequence[DevicePool]) -> list[Reason]:
    """Return a reason for each resource pool whose devices the scheduler doesn't use."""
    return [
        Reason(
            code="pool-not-usable",
            message=f"resource pool {pool.id} is invalid: {pool.invalid_reason}",
            fix="correct the driver's ResourceSlices, or restart the driver on the node",
        )
        if pool.invalid
        else Reason(
            code="pool-not-usable",
            message=f"resource pool {pool.id} is incomplete, because some of its slices are missing",
            fix="wait until the driver publishes all slices, or restart the driver on the node",
        )
        for pool in pools
        if pool.invalid or pool.incomplete
    ]
