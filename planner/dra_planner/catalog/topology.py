"""Where the GPUs and network interfaces of a machine sit: PCIe roots and NUMA nodes, where they are public."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dra_planner.catalog.machines import Machine
from dra_planner.catalog.tables import Row, flag, integer, read_table


@dataclass(frozen=True, slots=True)
class GpuPlace:
    """One GPU in a machine, in the driver's device order; None is not known.

    `memory_mib` is set where this machine's GPUs report another amount than their model does.
    """

    pcie_root: str | None = None
    numa_node: int | None = None
    pci_bus_id: str | None = None
    memory_mib: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """One network interface that pods can claim; None is not known."""

    kind: str  # efa | rdma
    pci_device: str
    pci_subsystem: str
    pci_vendor: str
    is_rdma: bool
    pcie_root: str | None
    numa_node: int | None


@cache
def gpu_places(machine: Machine) -> tuple[GpuPlace, ...]:
    """Return one place per GPU of a machine; all unknown where the table does not hold the machine."""
    rows = _rows("gpu_topology", machine)
    if len(rows) != machine.gpu_count:
        return (GpuPlace(),) * machine.gpu_count
    return tuple(
        GpuPlace(
            row["pcie_root"] or None,
            integer(row, "numa_node"),
            row["pci_bus_id"] or None,
            integer(row, "memory_mib"),
        )
        for row in rows
    )


@cache
def network_interfaces(machine: Machine) -> tuple[NetworkInterface, ...]:
    """Return the interfaces of a machine whose place is public, in table order; none where it is not."""
    return tuple(
        NetworkInterface(
            kind=row["kind"],
            pci_device=row["pci_device"],
            pci_subsystem=row["pci_subsystem"],
            pci_vendor=row["pci_vendor"],
            is_rdma=bool(flag(row, "rdma")),
            pcie_root=row["pcie_root"] or None,
            numa_node=integer(row, "numa_node"),
        )
        for row in _rows("nics", machine)
    )


def _rows(table: str, machine: Machine) -> list[Row]:
    key = (machine.cloud, machine.instance_type)
    return [row for row in read_table(table) if (row["cloud"], row["machine"]) == key]
