"""Pods that run on every node, and their published requests."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.machines import Machine
from dra_planner.catalog.tables import Provenance, integer, provenance, read_table


class DaemonPod(Struct, frozen=True, kw_only=True):
    """A daemon pod that runs once per node. None means that the request is unknown, and 0 means
    that there is no request. The same applies to `containers`.
    """

    name: str
    origin: str  # platform or project
    cpu_milli: int | None
    memory_mib: int | None
    containers: int | None
    provenance: Provenance


@cache
def daemon_pods(
    machine: Machine, drivers: tuple[str, ...] = (), *, device_plugin: bool = False
) -> tuple[DaemonPod, ...]:
    """Return the daemon pods of a node with this machine type in order, including the pods of
    additional drivers ("dranet").

    `device_plugin` means that a device plugin serves its accelerators instead of a DRA driver.
    """
    vendor = machine.accelerator.vendor if machine.accelerator else ""
    needs = {"", vendor, f"{vendor}-{'device-plugin' if device_plugin else 'dra'}", *drivers}
    return tuple(
        DaemonPod(
            name=row["name"],
            origin=row["origin"],
            cpu_milli=integer(row, "cpu_milli"),
            memory_mib=integer(row, "memory_mib"),
            containers=integer(row, "containers"),
            provenance=provenance(row),
        )
        for row in read_table("daemon_pods")
        if row["cloud"] in (machine.cloud, "any") and row["needs"] in needs
    )
