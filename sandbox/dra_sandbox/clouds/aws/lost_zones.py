"""Zones without available machines, and their effect on managed node groups."""

from __future__ import annotations

from dra_sandbox.clouds.aws.subnets import zones_of
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

LOST_ZONE = "dra-sandbox:aws:LostZone"
"""Kind of the stored zones without machines, by name."""


def has_machines(request: CloudRequest) -> str | None:
    """Reject nodes that can't be launched.

    Creating a group fails if one of its zones has no machine, even if another zone has some
    (aws/containers-roadmap issue 2204; the message is in eksctl-io/eksctl issue 4732). An existing
    group can grow while any of its zones has machines.
    """
    if request.inputs is None:
        return None
    lost = request.cloud.all(LOST_ZONE).keys()
    zones = zones_of(request.cloud, request.inputs.get("subnetIds") or []) or set[str]()
    without, left = sorted(zones & lost), sorted(zones - lost)
    present = _desired(request.before) if request.before else 0
    if not without or _desired(request.inputs) <= present or (request.before and left):
        return None
    machine = ", ".join(request.inputs.get("instanceTypes") or ["the machine"])
    elsewhere = f" or choosing {', '.join(left)}" if left else ""
    return (
        "AsgInstanceLaunchFailures: Could not launch On-Demand Instances. "
        "InsufficientInstanceCapacity - We currently "
        f"do not have sufficient {machine} capacity in the Availability Zone you requested "
        f"({without[0]}). You can "
        f"currently get {machine} capacity by not specifying an Availability Zone in your "
        f"request{elsewhere}. "
        "Launching EC2 instance failed."
    )


def _desired(group: Values) -> int:
    return int(group["scalingConfig"]["desiredSize"])
