"""Quotas of a project for disks and GPUs in a region."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

POOL = "gcp:container/nodePool:NodePool"
QUOTA, SSD = "dra-sandbox:gcp:Quota", "SSD_TOTAL_GB"
"""Kind and name of a stored quota, {"limit": 250}. Quotas that aren't stored don't limit anything.
GPU quotas name the GPU: NVIDIA_L4_GPUS has {"limit": 1, "accelerator": "nvidia-l4"}, and
GPUS_ALL_REGIONS {"accelerator": ""}.
"""
ZONES = 3


def first_pool_has_room(request: CloudRequest) -> str | None:
    """Reject a cluster whose first pool needs more disk space than the quota allows.

    The disks of the first pool count, although it is removed at once:
    terraform-google-kubernetes-engine issue 1795. A regional pool has nodes in each of its zones,
    and balanced disks count as SSDs.
    """
    inputs, limit = request.inputs or {}, (request.cloud.get(QUOTA, SSD) or {}).get("limit")
    config = inputs.get("nodeConfig") or {}
    if (
        limit is None
        or request.before is not None
        or config.get("diskType", "pd-balanced") == "pd-standard"
    ):
        return None
    zones = len(inputs.get("nodeLocations") or []) or (
        ZONES if str(inputs.get("location")).count("-") == 1 else 1
    )
    wanted = zones * int(inputs.get("initialNodeCount") or 0) * int(config.get("diskSizeGb") or 100)
    if wanted <= limit:
        return None
    return (
        f'Insufficient regional quota to satisfy request: resource "{SSD}": request requires '
        f"'{wanted}.0' and is "
        f"short '{wanted - limit}.0'. project has a quota of '{limit}.0' with '{limit}.0' "
        "available."
    )


def gpus_have_room(request: CloudRequest) -> str | None:
    """Reject a pool that needs more GPUs than a quota allows.

    GPUs of Spot nodes have separate quotas. Sources: vanvalenlab/kiosk-console issue 367 (a pool in
    two zones needs one node in each), fastai/course-v3 pull request 165 (the total of all regions
    is zero in a new project).
    """
    for name, quota in request.cloud.all(QUOTA).items():
        wanted = _gpus(request.inputs or {}, quota) - _gpus(request.before or {}, quota)
        used = sum(_gpus(pool, quota) for pool in request.cloud.all(POOL).values())
        left = int(quota["limit"]) - used
        if wanted > max(0, left):
            return (
                f'Error 403: Insufficient regional quota to satisfy request: resource "{name}": '
                "request requires "
                f"'{wanted}.0' and is short '{wanted - left}.0'. project has a quota of "
                f"'{quota['limit']}.0' with "
                f"'{left}.0' available."
            )
    return None


def _gpus(pool: Values, quota: Values) -> int:
    """Return the number of a quota's GPUs that a pool certainly uses.

    Autoscaler limits don't count.
    """
    config = pool.get("nodeConfig") or {}
    if "accelerator" not in quota or config.get("spot"):
        return 0
    per_node = sum(
        int(each.get("count") or 0)
        for each in config.get("guestAccelerators") or []
        if quota["accelerator"] in ("", each.get("type"))
    )
    nodes = int(pool.get("nodeCount") or pool.get("initialNodeCount") or 0)
    return per_node * nodes * max(1, len(pool.get("nodeLocations") or []))
