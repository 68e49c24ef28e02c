"""What a node of a machine type offers to pods: what its cloud's kubelet leaves, less what is reserved besides."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds import Allocatable, NodeSettings, cloud_of
from dra_planner.errors import CatalogError

_DEFAULTS = NodeSettings()


def predict_allocatable(machine: Machine, settings: NodeSettings = _DEFAULTS) -> Allocatable:
    """Return allocatable cpu, memory, pods and ephemeral storage of a node.

    Raises CatalogError where the machine's size is not known, or where settings leave nothing or cannot be.
    """
    if machine.vcpus is None or machine.memory_mib is None:
        raise CatalogError(
            f"how many vCPU and how much memory {machine.name} has is not known", fix="use another machine"
        )
    found = cloud_of(machine).allocatable(machine, machine.vcpus, machine.memory_mib, settings)
    kept = {name: amount for name, amount in settings.reserved.items() if amount}
    if not kept:
        return found
    amounts, at_most = (
        {name: amount - kept.get(name, 0) for name, amount in side.items()} for side in (found.amounts, found.at_most)
    )
    scarce = [name for name in kept if amounts[name] <= 0]
    if scarce:
        raise CatalogError(f"what is reserved leaves a {machine.name} no {scarce[0]}", fix="reserve less")
    return Allocatable(amounts, at_most, (*found.assumptions, f"{machine.name}: reserved amounts are kept from pods"))
