"""Where the GPUs of a machine sit: PCIe roots and NUMA nodes, where somebody has published them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dra_planner.catalog.machines import Machine
from dra_planner.catalog.tables import integer, read_table


@dataclass(frozen=True, slots=True)
class GpuPlace:
    """One GPU in a machine, in the driver's device order; None is not known."""

    pcie_root: str | None = None
    numa_node: int | None = None
    pci_bus_id: str | None = None


@cache
def gpu_places(machine: Machine) -> tuple[GpuPlace, ...]:
    """Return one place per GPU of a machine; all unknown where the table does not hold every GPU."""
    rows = [
        row
        for row in read_table("gpu_topology")
        if (row["cloud"], row["machine"]) == (machine.cloud, machine.instance_type) and row["complete"] == "yes"
    ]
    if len(rows) != machine.gpu_count:
        return (GpuPlace(),) * machine.gpu_count
    return tuple(
        GpuPlace(row["pcie_root"] or None, integer(row, "numa_node"), row["pci_bus_id"] or None) for row in rows
    )
