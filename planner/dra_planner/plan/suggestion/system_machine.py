"""The machine type of a new fleet's system pool."""

from __future__ import annotations

from typing import Final

from dra_planner import catalog

_GIB: Final = 8
_VCPUS: Final = 2


def cheapest_system_machine(cloud: str, region: str) -> str:
    """Return the cheapest machine type without devices in the region that holds controllers and
    add-ons, or the smallest one if no price is known.
    """
    machines = [
        machine
        for machine in catalog.machines_without_accelerators(cloud)
        if machine.arch == "amd64"
        and (machine.vcpus or 0) >= _VCPUS
        and (machine.memory_mib or 0) >= _GIB * 1024
    ]
    priced = [
        (price.usd_per_hour, machine.name)
        for machine in machines
        if (price := catalog.price(machine, region)) is not None
    ]
    if priced:
        return min(priced)[1]
    return min(machines, key=lambda each: (each.vcpus or 0, each.memory_mib or 0)).name
