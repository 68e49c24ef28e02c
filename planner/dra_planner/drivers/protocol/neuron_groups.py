"""Groups of Neuron devices and the EFA interfaces next to them. Two drivers publish these groups
with the same names.

Source: aws-neuron/connected-device-maps-over-efa-for-neuron:lookup/lookup.go@d571025 (construction
of IDs), and the maps of this repository.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache

from dra_planner.catalog import Machine
from dra_planner.catalog.tables import read_table
from dra_planner.model import AttributeValue

_SIZES = (4, 8, 16)


@cache
def neuron_groups(machine: Machine) -> dict[int, dict[str, AttributeValue]]:
    """Return the IDs of the groups of each Neuron device, by the device's number.

    The result is empty for machine types without groups.
    """
    efa = _efa_of_devices(machine)
    return {device: _attributes(device, efa) for device in efa}


@cache
def efa_groups(machine: Machine) -> tuple[dict[str, AttributeValue], ...]:
    """Return the IDs of the groups of each EFA interface, in the order of the devices that they
    serve.
    """
    efa = _efa_of_devices(machine)
    first = {address: device for device, address in reversed(efa.items())}
    return tuple(_attributes(device, efa) for device in sorted(first.values()))


def _efa_of_devices(machine: Machine) -> dict[int, str]:
    rows = read_table("neuron_efa")
    return {
        int(row["device"]): row["efa"]
        for row in rows
        if machine.instance_type in row["machines"].split()
    }


def _attributes(device: int, efa: dict[int, str]) -> dict[str, AttributeValue]:
    known: dict[str, AttributeValue] = {"resource.aws.com/devicegroup1_id": efa[device]}
    for size in _SIZES:
        start = device // size * size
        known[f"resource.aws.com/devicegroup{size}_id"] = _group_id(
            efa[each] for each in range(start, start + size)
        )
    return known


def _group_id(addresses: Iterable[str]) -> str:
    return hashlib.sha256(",".join(sorted(set(addresses))).encode()).hexdigest()[:16]
