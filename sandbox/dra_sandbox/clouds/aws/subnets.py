"""Subnets and their zones, and resources that block the deletion of a network."""

from __future__ import annotations

from collections.abc import Iterable

from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest

SUBNET, INTERFACE = "aws:ec2/subnet:Subnet", "aws:ec2/networkInterface:NetworkInterface"
GROUP, LOAD_BALANCER = "aws:ec2/securityGroup:SecurityGroup", "aws:lb/loadBalancer:LoadBalancer"


def zones_of(cloud: Memory, subnet_ids: Iterable[str]) -> set[str] | None:
    """Return the zones of subnets, or None if the simulation doesn't contain one of them."""
    found = [cloud.get(SUBNET, subnet_id) for subnet_id in subnet_ids]
    return None if None in found else {str(each["availabilityZone"]) for each in found if each}


def has_no_interfaces(request: CloudRequest) -> str | None:
    """Reject the deletion of a resource that an interface uses. Interfaces of load balancers and
    pods outlive their owners.

    Sources: pulumi/pulumi-eks issue 1226 (security group); terraform-provider-aws issue 30640
    (subnet).
    """
    if request.inputs is not None:
        return None
    for interface in request.cloud.all(INTERFACE).values():
        if request.identifier == interface.get("subnetId"):
            return (
                f"DependencyViolation: The subnet '{request.identifier}' has dependencies and "
                "cannot be deleted."
            )
        if request.identifier in (interface.get("securityGroups") or []):
            return f"DependencyViolation: resource {request.identifier} has a dependent object"
    return None


def has_no_load_balancers(request: CloudRequest) -> str | None:
    """Reject the deletion of a subnet that contains the load balancer of a Service. Source of this
    and the next check: cloudbees-oss/terraform-aws-cloudbees-ci-eks-addon issue 34.
    """
    if request.inputs is not None:
        return None
    if any(
        request.identifier in (each.get("subnets") or [])
        for each in request.cloud.all(LOAD_BALANCER).values()
    ):
        return (
            f"DependencyViolation: The subnet '{request.identifier}' has dependencies and "
            "cannot be deleted."
        )
    return None


def has_no_public_addresses(request: CloudRequest) -> str | None:
    """Reject detaching the internet gateway from a VPC in which a load balancer has public
    addresses.
    """
    if request.inputs is not None:
        return None
    vpc = (request.before or {}).get("vpcId")
    if any(
        each.get("vpcId") == vpc and not each.get("internal")
        for each in request.cloud.all(LOAD_BALANCER).values()
    ):
        return (
            f"detaching EC2 Internet Gateway ({request.identifier}) from VPC ({vpc}): "
            "DependencyViolation: Network "
            f"{vpc} has some mapped public address(es). Please unmap those public address(es) "
            "before detaching the "
            "gateway."
        )
    return None


def has_no_security_groups(request: CloudRequest) -> str | None:
    """Reject the deletion of a VPC with security groups of other owners.

    Source: terraform-aws-modules/terraform-aws-vpc issue 283.
    """
    if request.inputs is not None:
        return None
    if any(group.get("vpcId") == request.identifier for group in request.cloud.all(GROUP).values()):
        return (
            f"DependencyViolation: The vpc '{request.identifier}' has dependencies and cannot "
            "be deleted."
        )
    return None
