"""Conditions that block the update of a managed node group: another update, pods that can't be
evicted, and a lack of additional machines.

Tests and rehearsals store these conditions in the cloud's memory, under kinds that only the
simulation has.
"""

from __future__ import annotations

from dra_sandbox.clouds.aws.subnets import zones_of
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

USUAL_MINUTES = 60
GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
STAYING_POD = "dra-sandbox:aws:StayingPod"
"""Pods that a PodDisruptionBudget keeps on their node, by name: {"nodeGroup": ID of the group}."""
STOCK = "dra-sandbox:aws:Stock"
"""Number of available machines of a type in a zone, by "p5.48xlarge/us-east-1a": {"count": 4}."""


def is_active(request: CloudRequest) -> str | None:
    """Reject a change while another change is in progress.

    Source: aws/containers-roadmap issue 2204.
    """
    if (
        request.inputs is None
        or request.before is None
        or request.before.get("status", "ACTIVE") == "ACTIVE"
    ):
        return None
    return (
        "ResourceInUseException: Nodegroup cannot be updated as it is currently not in Active State"
    )


def pods_leave(request: CloudRequest) -> str | None:
    """Fail an update after 15 minutes if pods can't be evicted, unless it's forced. Sources:
    aws/containers-roadmap issue 1282; EKS user guide, “Understand each phase of node updates”.
    """
    if not _is_rolled(request) or (request.inputs or {}).get("forceUpdateVersion"):
        return None
    staying = [
        name
        for name, pod in request.cloud.all(STAYING_POD).items()
        if pod["nodeGroup"] == request.identifier
    ]
    if not staying:
        return None
    name = (request.inputs or {})["nodeGroupName"]
    return (
        "PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node "
        f"group {name} "
        f"({', '.join(sorted(staying))})"
    )


def has_as_many_machines(request: CloudRequest) -> str | None:
    """Reject a group that is larger than the number of available machines (aws/containers-roadmap
    issue 2204). Also reject an update with the strategy DEFAULT without spare machines, because
    it starts a node in every zone before it removes one (kubernetes/autoscaler issue 5264; EKS
    API reference, updateStrategy).
    """
    if request.inputs is None:
        return None
    machine = _machine(request.cloud, request.inputs)
    zones = zones_of(request.cloud, request.inputs.get("subnetIds") or []) or set()
    stock = request.cloud.all(STOCK)
    counts = [
        stock[f"{machine}/{zone}"]["count"]
        for zone in sorted(zones)
        if f"{machine}/{zone}" in stock
    ]
    if len(counts) < len(zones) or not counts:
        return None  # at least one zone has no limit on its machines
    wanted, left = (
        request.inputs["scalingConfig"]["desiredSize"],
        sum(counts) - _of_others(request, machine, zones),
    )
    if wanted > left:
        return (
            "AsgInstanceLaunchFailures: Could not launch On-Demand Instances. "
            "InsufficientInstanceCapacity - We "
            f"currently do not have sufficient {machine} capacity in the Availability Zone you "
            "requested "
            f"({min(zones)}). Launching EC2 instance failed."
        )
    strategy = (request.inputs.get("updateConfig") or {}).get("updateStrategy", "DEFAULT")
    if _is_rolled(request) and wanted and strategy == "DEFAULT" and wanted + len(zones) > left:
        return (
            "NodeCreationFailure: Couldn't proceed with upgrade process as new nodes are not "
            "joining node group "
            f"{request.inputs['nodeGroupName']}"
        )
    return None


def is_waited_for(request: CloudRequest) -> str | None:
    """Fail if the provider's timeout ends before the update. The update itself continues, so
    another call is rejected.

    Sources: cloudposse/terraform-aws-eks-node-group pull request 70, terraform-aws-eks issue 1131;
    the message is from pulumi/pulumi-aws issue 3442.
    """
    if not _is_rolled(request):
        return None
    inputs, now = request.inputs or {}, request.before or {}
    at_once = int((inputs.get("updateConfig") or {}).get("maxUnavailable") or 1)
    if request.waits_for(int(now["scalingConfig"]["desiredSize"]), at_once, USUAL_MINUTES):
        return None
    return (
        f"waiting for EKS Node Group ({request.identifier}) version update: timeout while waiting "
        "for state to become "
        "'Successful' (last state: 'InProgress', timeout: 1h0m0s)"
    )


def _is_rolled(request: CloudRequest) -> bool:
    """Return True if a change replaces the nodes of an existing group (EKS API reference,
    UpdateNodegroupVersion).
    """
    now, wanted = request.before, request.inputs
    if not now or not wanted:
        return False
    templates = [(each.get("launchTemplate") or {}).get("version") for each in (now, wanted)]
    given = [name for name in ("version", "releaseVersion") if wanted.get(name) is not None]
    return templates[0] != templates[1] or any(
        wanted[name] != now.get(name, wanted[name]) for name in given
    )


def _machine(cloud: Memory, group: Values) -> str:
    template = cloud.get(TEMPLATE, str((group.get("launchTemplate") or {}).get("id"))) or {}
    return str(
        next(iter(group.get("instanceTypes") or []), None)
        or template.get("instanceType")
        or "t3.medium"
    )


def _of_others(request: CloudRequest, machine: str, zones: set[str]) -> int:
    """Return the number of these machines in other groups that are only in these zones."""
    taken = 0
    for identifier, group in request.cloud.all(GROUP).items():
        if identifier == request.identifier or _machine(request.cloud, group) != machine:
            continue
        theirs = zones_of(request.cloud, group.get("subnetIds") or [])
        taken += group["scalingConfig"]["desiredSize"] if theirs and theirs <= zones else 0
    return taken


REFUSALS = (is_active, has_as_many_machines, pods_leave, is_waited_for)
