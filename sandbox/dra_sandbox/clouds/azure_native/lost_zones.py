"""Zones without available machines, and their effect on agent pools."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

LOST_ZONE = "dra-sandbox:azure:LostZone"
"""Kind of the stored zones without machines, with the API's zone names ("1")."""


_CONSTRAINTS = {
    "osDiskType": "Differencing (Ephemeral) Disks",
    "proximityPlacementGroupID": "Proximity Placement Group",
}


def _is_constrained(pool: Values, key: str) -> bool:
    return bool(pool.get(key)) and (key != "osDiskType" or pool[key] == "Ephemeral")


def has_machines(request: CloudRequest) -> str | None:
    """Reject nodes that can't be allocated. A pool can grow while any of its zones has machines.

    Source:
    MicrosoftDocs/SupportArticles-docs:…/error-code-zonalallocationfailed-allocationfailed.md@031528b.
    Azure places a pool without zones where it has capacity:
    learn.microsoft.com/azure/aks/reliability-availability-zones-configure. If more than one zone
    restricts the pool, the message lists all restrictions: jenkins-infra/helpdesk issue 4459.
    """
    if request.inputs is None:
        return None
    zones = set(request.inputs.get("availabilityZones") or [])
    present = int((request.before or {}).get("count") or 0)
    if (
        not zones
        or zones - request.cloud.all(LOST_ZONE).keys()
        or int(request.inputs.get("count") or 0) <= present
    ):
        return None
    if constraints := [
        words for key, words in _CONSTRAINTS.items() if _is_constrained(request.inputs, key)
    ]:
        return (
            "OverconstrainedZonalAllocationRequest: Allocation failed. VM(s) with the following "
            "constraints cannot be "
            "allocated, because the condition is too restrictive. Please remove some constraints "
            "and try again. "
            f"Constraints applied are: {', '.join(['Availability Zone', *constraints, 'VM Size'])}"
        )
    return (
        "ZonalAllocationFailed: Allocation failed. We do not have sufficient capacity for the "
        "requested VM size in "
        f"this zone. ({request.inputs.get('vmSize')}, zone {', '.join(sorted(zones))})"
    )
