"""Zones in which no machine is to be had: what that does to agent pools."""

from __future__ import annotations

from dra_sandbox.clouds.rows import Request

LOST_ZONE = "dra-sandbox:azure:LostZone"
"""Kind under which a cloud remembers zones without machines, as the API has them ("1")."""


def has_machines(request: Request) -> str | None:
    """Refuse nodes that cannot be allocated; a pool grows as long as any of its zones has machines.

    MicrosoftDocs/SupportArticles-docs:…/error-code-zonalallocationfailed-allocationfailed.md@031528b. A pool in no zone
    is placed where there is room: learn.microsoft.com/azure/aks/reliability-availability-zones-configure.
    """
    if request.inputs is None:
        return None
    zones = set(request.inputs.get("availabilityZones") or [])
    present = int((request.before or {}).get("count") or 0)
    if not zones or zones - request.cloud.all(LOST_ZONE).keys() or int(request.inputs.get("count") or 0) <= present:
        return None
    return (
        "ZonalAllocationFailed: Allocation failed. We do not have sufficient capacity for the requested VM size in "
        f"this zone. ({request.inputs.get('vmSize')}, zone {', '.join(sorted(zones))})"
    )
