"""What a project may have of disks in a region."""

from __future__ import annotations

from dra_sandbox.clouds.rows import Request

QUOTA, SSD = "dra-sandbox:gcp:Quota", "SSD_TOTAL_GB"
"""Kind and name under which a cloud remembers a limit, {"limit": 250}; none is known of a project otherwise."""
ZONES = 3


def first_pool_has_room(request: Request) -> str | None:
    """Terraform-google-kubernetes-engine issue 1795: the disks of the first pool count, though it is removed at once.

    A pool of a region has its nodes in each of its zones; balanced disks count as SSDs do.
    """
    inputs, limit = request.inputs or {}, (request.cloud.get(QUOTA, SSD) or {}).get("limit")
    config = inputs.get("nodeConfig") or {}
    if limit is None or request.before is not None or config.get("diskType", "pd-balanced") == "pd-standard":
        return None
    zones = len(inputs.get("nodeLocations") or []) or (ZONES if str(inputs.get("location")).count("-") == 1 else 1)
    wanted = zones * int(inputs.get("initialNodeCount") or 0) * int(config.get("diskSizeGb") or 100)
    if wanted <= limit:
        return None
    return (
        f"Insufficient regional quota to satisfy request: resource \"{SSD}\": request requires '{wanted}.0' and is "
        f"short '{wanted - limit}.0'. project has a quota of '{limit}.0' with '{limit}.0' available."
    )
