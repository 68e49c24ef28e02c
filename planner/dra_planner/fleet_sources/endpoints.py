"""The networks with access to an imported cluster's API server."""

from __future__ import annotations

from typing import Any

from dra_planner.clouds import Cloud, public_network_fault
from dra_planner.clouds.foreign import ForeignCluster


def imported_endpoint(
    described: ForeignCluster, of_cloud: Cloud, notes: list[str]
) -> dict[str, Any]:
    """Return the endpoint of the fleet, empty if no network has access to the public endpoint. Add
    a note for each network that a fleet can't contain.
    """
    kept = []
    for network in described.public_networks:
        fault = public_network_fault(network) or of_cloud.address_fault(network)
        if fault:
            notes.append(f"public access to the API server isn't imported, because {fault}")
        else:
            kept.append(network)
    return {"publicAccessCidrs": kept} if kept else {}
