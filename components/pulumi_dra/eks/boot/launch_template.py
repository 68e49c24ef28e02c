"""Contents of a node group's launch template: metadata service, disks, network cards, and purchased
capacity. Plain values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pulumi

from pulumi_dra.eks.pool.volumes import GP3_SPEED
from pulumi_dra.inputs.disk_speed import USUAL_SPEED, DiskSpeed

if TYPE_CHECKING:
    # The SDK's own types, so that the type checker finds misspelled keys. Imported only for type
    # checking.
    from pulumi_aws.ec2 import (
        LaunchTemplateBlockDeviceMappingArgsDict,
        LaunchTemplateBlockDeviceMappingEbsArgsDict,
        LaunchTemplateCapacityReservationSpecificationArgsDict,
        LaunchTemplateInstanceMarketOptionsArgsDict,
        LaunchTemplateMetadataOptionsArgsDict,
        LaunchTemplateNetworkInterfaceArgsDict,
        LaunchTemplateTagSpecificationArgsDict,
    )

ROOT_DEVICE = "/dev/xvda"
"""Root volume of Amazon Linux 2023 and images based on it (awslabs/amazon-eks-ami:doc/usage/al2.md
lists the same name for both lines).
"""


def metadata_options() -> LaunchTemplateMetadataOptionsArgsDict:
    """Return metadata settings that pods can't use: only version 2, and one network hop."""
    return {
        "http_endpoint": "enabled",
        "http_tokens": "required",
        "http_put_response_hop_limit": 1,
        "instance_metadata_tags": "disabled",
    }


def root_volume(
    size_gib: int, kms_key_id: pulumi.Input[str] | None = None, speed: DiskSpeed = USUAL_SPEED
) -> list[LaunchTemplateBlockDeviceMappingArgsDict]:
    """Return the block devices: one encrypted gp3 volume that is deleted with its node."""
    ebs: LaunchTemplateBlockDeviceMappingEbsArgsDict = {
        "volume_size": size_gib,
        "volume_type": "gp3",
        "encrypted": "true",
        "delete_on_termination": "true",
        # The provider keeps an omitted speed, so the usual one of gp3 is sent, too
        # (hashicorp/terraform-provider-aws:internal/service/ec2/ec2_launch_template.go@025e4f81).
        "iops": GP3_SPEED.iops[0] if speed.iops is None else speed.iops,
        "throughput": GP3_SPEED.throughput[0] if speed.throughput is None else speed.throughput,
    }
    if kms_key_id is not None:
        ebs["kms_key_id"] = kms_key_id
    return [{"device_name": ROOT_DEVICE, "ebs": ebs}]


def efa_interfaces(
    interfaces: int, cards: int, security_groups: Sequence[pulumi.Input[str]]
) -> list[LaunchTemplateNetworkInterfaceArgsDict]:
    """Return one network interface for each network card.

    Card 0 carries IP traffic. It also carries EFA, unless the machine type has one EFA interface
    fewer than `cards` (EC2 user guide, “Maximize network bandwidth on Amazon EC2 instances with
    multiple network cards”, P6-B300). The others carry only EFA, so they don't need an address of
    the subnet (EKS user guide, “Run machine learning training on Amazon EKS with Elastic Fabric
    Adapter”). Device index 0 is the instance's primary interface. Other cards use index 1.
    """
    first = "efa" if interfaces >= cards else "interface"
    return [
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": first if card == 0 else "efa-only",
            "security_groups": list(security_groups),
            "delete_on_termination": "true",
        }
        for card in range(cards)
    ]


def market_options(capacity: str) -> LaunchTemplateInstanceMarketOptionsArgsDict | None:
    """Return the market options of a Capacity Block. For other capacity types, the node group sets
    them.
    """
    return {"market_type": "capacity-block"} if capacity == "capacity-block" else None


def reservation_target(
    capacity: str, reservation_id: pulumi.Input[str] | None
) -> LaunchTemplateCapacityReservationSpecificationArgsDict | None:
    """Return the reservation in which nodes start, or None if no capacity was purchased."""
    if reservation_id is None or capacity not in ("reservation", "capacity-block"):
        return None
    return {
        "capacity_reservation_preference": "capacity-reservations-only",
        "capacity_reservation_target": {"capacity_reservation_id": reservation_id},
    }


def tag_specifications(
    tags: Mapping[str, pulumi.Input[str]],
) -> list[LaunchTemplateTagSpecificationArgsDict]:
    """Return the tags of instances, volumes, and network interfaces that a node group creates."""
    if not tags:
        return []
    return [
        {"resource_type": kind, "tags": dict(tags)}
        for kind in ("instance", "volume", "network-interface")
    ]
