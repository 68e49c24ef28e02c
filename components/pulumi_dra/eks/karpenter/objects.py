"""NodePool and EC2NodeClass of a pool. Plain values.

aws/karpenter-provider-aws:pkg/apis/v1/ec2nodeclass.go and
kubernetes-sigs/karpenter:pkg/apis/v1/nodepool.go, 1.14.1.
"""

from collections.abc import Sequence
from typing import Any

import pulumi

from pulumi_dra.eks.boot.launch_template import ROOT_DEVICE
from pulumi_dra.eks.karpenter.pool_inputs import EksKarpenterPoolInputs

API, CLASS_GROUP = "karpenter.sh/v1", "karpenter.k8s.aws"
CLASS_API = f"{CLASS_GROUP}/v1"


def node_pool_spec(inputs: EksKarpenterPoolInputs) -> dict[str, Any]:
    """Return the spec of a static NodePool: a fixed number of nodes of one machine type, without
    consolidation.
    """
    required = {
        "node.kubernetes.io/instance-type": inputs.machine,
        "karpenter.sh/capacity-type": inputs.capacity_type,
        **({"topology.kubernetes.io/zone": inputs.zone} if inputs.zone else {}),
    }
    taints = [
        {
            "key": taint.key,
            **({"value": taint.value} if taint.value else {}),
            "effect": taint.effect,
        }
        for taint in inputs.taints
    ]
    return {
        "replicas": inputs.nodes,
        "limits": {"nodes": inputs.max_nodes},
        "template": {
            "metadata": {"labels": inputs.labels},
            "spec": {
                "nodeClassRef": {
                    "group": CLASS_GROUP,
                    "kind": "EC2NodeClass",
                    "name": inputs.pool_name,
                },
                "requirements": [
                    {"key": key, "operator": "In", "values": [value]}
                    for key, value in required.items()
                ],
                "taints": taints,
                # By default, Karpenter would drain nodes after 30 days, even if pods run on them.
                "expireAfter": "Never",
            },
        },
        "disruption": {
            "consolidateAfter": "Never",
            "budgets": [{"nodes": str(inputs.max_unavailable)}],
        },
    }


def node_class_spec(
    inputs: EksKarpenterPoolInputs,
    subnets: pulumi.Input[list[Any]],
    security_groups: Sequence[pulumi.Input[str]],
    placement_group: pulumi.Input[str] | None,
) -> dict[str, Any]:
    """Return the spec of the EC2NodeClass. Image, disks, network, and metadata service match
    managed node groups.
    """
    volume: dict[str, Any] = {
        "volumeSize": f"{inputs.disk_gib}Gi",
        "volumeType": "gp3",
        "encrypted": True,
        "deleteOnTermination": True,
    }
    if inputs.disk_kms_key is not None:
        volume["kmsKeyID"] = inputs.disk_kms_key
    if inputs.disk_speed.iops is not None:
        volume["iops"] = inputs.disk_speed.iops
    if inputs.disk_speed.throughput is not None:
        volume["throughput"] = inputs.disk_speed.throughput
    spec: dict[str, Any] = {
        "amiSelectorTerms": [inputs.image_term],
        # For an alias, the family is known. For a custom image, the family determines how Karpenter
        # configures the node at boot.
        **({} if "alias" in inputs.image_term else {"amiFamily": "AL2023"}),
        "instanceProfile": inputs.instance_profile_name,
        "subnetSelectorTerms": subnets,
        "securityGroupSelectorTerms": [{"id": group} for group in security_groups],
        "metadataOptions": {
            "httpEndpoint": "enabled",
            "httpProtocolIPv6": "disabled",
            "httpPutResponseHopLimit": 1,
            "httpTokens": "required",
        },
        "blockDeviceMappings": [{"deviceName": ROOT_DEVICE, "ebs": volume}],
    }
    optional: dict[str, Any] = {
        "tags": inputs.tags,
        "kubelet": inputs.kubelet.configuration(),
        "userData": inputs.user_data,
        "instanceStorePolicy": "RAID0" if inputs.local_storage == "raid0" else "",
        "networkInterfaces": efa_interfaces(inputs.efa.interfaces, inputs.efa.cards)
        if inputs.efa
        else [],
    }
    spec |= {key: value for key, value in optional.items() if value}
    if inputs.reservation_id is not None:
        spec["capacityReservationSelectorTerms"] = [{"id": inputs.reservation_id}]
    if placement_group is not None:
        spec["placementGroupSelector"] = {"name": placement_group}
    return spec


def efa_interfaces(interfaces: int, cards: int) -> list[dict[str, Any]]:
    """Return the network interfaces of a machine with EFA on its `cards`.

    Karpenter expects an interface for IP traffic first, followed by EFA-only interfaces: at device
    1 of card 0, and on each other card (EC2 user guide, “Maximize network bandwidth on Amazon EC2
    instances with multiple network cards”).
    """
    first = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
    with_efa = range(0 if interfaces >= cards else 1, cards)
    return [
        first,
        *(
            {
                "networkCardIndex": card,
                "deviceIndex": 1 if card == 0 else 0,
                "interfaceType": "efa-only",
            }
            for card in with_efa
        ),
    ]
