"""Quotas of an AWS account for machines in a region, which are often zero for GPUs."""

from __future__ import annotations

from dra_planner import catalog
from dra_planner.errors import CatalogError
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
QUOTA = "dra-sandbox:aws:Quota"
"""On-demand vCPUs of an account, by the name of the AWS quota: {"vcpus": 0, "families": ["g6",
"g5"]}. Quotas that aren't configured don't limit anything. Spot and Capacity Blocks have their own
quotas.
"""


def has_vcpus(request: CloudRequest) -> str | None:
    """Reject a group that needs more vCPUs than a quota allows.

    Sources: klothoplatform/klotho pull request 311, kubernetes/kops pull request 15778.
    """
    wanted = _vcpus(request.cloud, request.inputs or {}, "")
    present = _vcpus(request.cloud, request.before or {}, "")
    for quota in request.cloud.all(QUOTA).values() if wanted > present else ():
        needed = sum(
            _vcpus(request.cloud, request.inputs or {}, family) for family in quota["families"]
        )
        others = sum(
            _vcpus(request.cloud, group, family)
            for identifier, group in request.cloud.all(GROUP).items()
            for family in quota["families"]
            if identifier != request.identifier
        )
        if needed and needed + others > quota["vcpus"]:
            return (
                "AsgInstanceLaunchFailures: Could not launch On-Demand Instances. "
                "VcpuLimitExceeded - You have "
                f"requested more vCPU capacity than your current vCPU limit of {quota['vcpus']} "
                "allows for the "
                "instance bucket that the specified instance type belongs to. Please visit "
                "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this "
                "limit. Launching EC2 "
                "instance failed."
            )
    return None


def _vcpus(cloud: Memory, group: Values, family: str) -> int:
    """Return the on-demand vCPUs of a group for machines of a family, or of any family for an empty
    string.
    """
    if group.get("capacityType", "ON_DEMAND") != "ON_DEMAND" or not group.get("scalingConfig"):
        return 0
    template = cloud.get(TEMPLATE, str((group.get("launchTemplate") or {}).get("id"))) or {}
    name = str(
        next(iter(group.get("instanceTypes") or []), None)
        or template.get("instanceType")
        or "t3.medium"
    )
    try:
        machine = catalog.machine("eks", name)
    except CatalogError:
        return 0
    return (
        (machine.vcpus or 0) * int(group["scalingConfig"]["desiredSize"])
        if machine.family.startswith(family)
        else 0
    )
