"""The machine type of a new fleet's system pool."""

from __future__ import annotations

from typing import Final

from dra_planner import catalog

_GIB: Final = 8
_VCPUS: Final = 2


def cheapest_system_machine(cloud: str, region: str) -> str:
    """Return the cheapest machine type without devices in the region that holds controllers and
    add-ons.
    """
    machines = catalog.machines_without_accelerators(cloud)
    priced = [
        (price.usd_per_hour, machine.name)
        for machine in machines
        if machine.arch == "amd64"
        and (machine.vcpus or 0) >= _VCPUS
        and (machine.memory_mib or 0) >= _GIB * 1024
        and (price := catalog.price(machine, region)) is not None
    ]
    return min(priced)[1] if priced else machines[0].name
