"""Subnets and the zones they lie in, and what keeps a network from going."""

from __future__ import annotations

from collections.abc import Iterable

from dra_sandbox.clouds.memory import Memory
from dra_sandbox.clouds.rows import Request

SUBNET, INTERFACE = "aws:ec2/subnet:Subnet", "aws:ec2/networkInterface:NetworkInterface"


def zones_of(cloud: Memory, subnet_ids: Iterable[str]) -> set[str] | None:
    """Return the zones of subnets, None where one of them was not made here."""
    found = [cloud.get(SUBNET, subnet_id) for subnet_id in subnet_ids]
    return None if None in found else {str(each["availabilityZone"]) for each in found if each}


def has_no_interfaces(request: Request) -> str | None:
    """Refuse to delete what an interface uses: those of load balancers and of pods outlive whoever made them.

    Sources: pulumi/pulumi-eks issue 1226 (security group); terraform-provider-aws issue 30640 (subnet).
    """
    if request.inputs is not None:
        return None
    for interface in request.cloud.all(INTERFACE).values():
        if request.identifier == interface.get("subnetId"):
            return f"DependencyViolation: The subnet '{request.identifier}' has dependencies and cannot be deleted."
        if request.identifier in (interface.get("securityGroups") or []):
            return f"DependencyViolation: resource {request.identifier} has a dependent object"
    return None
