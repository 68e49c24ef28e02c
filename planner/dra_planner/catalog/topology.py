"""The locations of a machine's GPUs and network interfaces (PCIe roots and NUMA nodes), if they are
public.
"""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.machines import Machine
from dra_planner.catalog.tables import Row, flag, integer, read_table

EFA = "Elastic Fabric Adapter (EFA)"  # value that the driver publishes as dra.net/pciDevice


class GpuPlace(Struct, frozen=True):
    """One GPU in a machine, in the driver's device order.

    None means unknown. `memory_mib` is set if the GPUs of this machine type report a different
    amount than their model usually does.
    """

    pcie_root: str | None = None
    numa_node: int | None = None
    pci_bus_id: str | None = None
    memory_mib: int | None = None


class NetworkInterface(Struct, frozen=True, kw_only=True):
    """One network interface that pods can claim. None means unknown."""

    kind: str  # efa, rdma, or gvnic
    is_rdma: bool
    pci_device: str | None = None
    pci_subsystem: str | None = None
    pci_vendor: str | None = None
    pcie_root: str | None = None
    numa_node: int | None = None
    is_observed: bool = False


@cache
def gpu_places(machine: Machine) -> tuple[GpuPlace, ...]:
    """Return one location for each GPU of a machine. All values are unknown if the table doesn't
    contain the machine type.
    """
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
    """Return the interfaces of a machine that pods can claim.

    Interfaces with a public location are in table order. For all other interfaces, only the number
    is known: EFA interfaces on EKS, and additional networks on GKE. Returns None if the number is
    also unknown.
    """
    rows = _rows("nics", machine)
    if rows:
        return tuple(_interface(row) for row in rows)
    rdma = machine.rdma_networks or 0
    others = max((machine.additional_networks or 0) - rdma, 0)
    return (
        *(
            NetworkInterface(kind="efa", is_rdma=True, pci_device=EFA)
            for _ in range(machine.efa_interfaces or 0)
        ),
        *(NetworkInterface(kind="rdma", is_rdma=True) for _ in range(rdma)),
        *(NetworkInterface(kind="gvnic", is_rdma=False) for _ in range(others if rdma else 0)),
    )


def _interface(row: Row) -> NetworkInterface:
    return NetworkInterface(
        kind=row["kind"],
        is_rdma=bool(flag(row, "rdma")),
        pci_device=row["pci_device"] or None,
        pci_subsystem=row["pci_subsystem"] or None,
        pci_vendor=row["pci_vendor"] or None,
        pcie_root=row["pcie_root"] or None,
        numa_node=integer(row, "numa_node"),
        is_observed=row["confidence"] == "observed",
    )


def _rows(table: str, machine: Machine) -> list[Row]:
    key = (machine.cloud, machine.instance_type)
    return [row for row in read_table(table) if (row["cloud"], row["machine"]) == key]
