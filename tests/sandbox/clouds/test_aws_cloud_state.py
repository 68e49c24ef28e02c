"""Errors of EKS that depend on its current state: other updates in progress, pods that can't be
evicted, and machines without capacity.
"""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from dra_sandbox.clouds.aws.clusters import ASSOCIATIONS, FULL_ZONE
from dra_sandbox.clouds.aws.node_updates import STAYING_POD, STOCK
from dra_sandbox.clouds.aws.quotas import QUOTA
from dra_sandbox.clouds.existing_resources import Memory

GROUP, CLUSTER, ADDON = (
    "aws:eks/nodeGroup:NodeGroup",
    "aws:eks/cluster:Cluster",
    "aws:eks/addon:Addon",
)
SUBNET, ASSOCIATION = (
    "aws:ec2/subnet:Subnet",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
)
MACHINE = "p5.48xlarge"


def group(desired: int = 1, **change: Any) -> dict[str, Any]:
    return {
        "clusterName": "main",
        "nodeGroupName": "gpu",
        "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
        "subnetIds": ["subnet-1"],
        "instanceTypes": [MACHINE],
        "scalingConfig": {"minSize": 0, "desiredSize": desired, "maxSize": 9},
        **change,
    }


def subnets(cloud: Any, *zones: str) -> list[str]:
    return [
        cloud.create(
            SUBNET,
            vpcId="vpc-1",
            cidrBlock=f"10.0.{index}.0/24",
            availabilityZone=f"eu-west-1{zone}",
        )["id"]
        for index, zone in enumerate(zones)
    ]


def test_row_4_one_update_at_a_time(cloud: Any, memory: Memory) -> None:
    made = cloud.create(GROUP, **group())
    memory.put(GROUP, made["id"], {**made, "status": "UPDATING"})
    with pytest.raises(grpc.RpcError, match="currently not in Active State"):
        cloud.update(GROUP, made, **group(2))
    memory.put(GROUP, made["id"], {**made, "status": "ACTIVE"})
    assert cloud.update(GROUP, made, **group(2))["scalingConfig"]["desiredSize"] == 2


def test_row_30a_a_pool_cannot_exceed_the_available_machines(cloud: Any, memory: Memory) -> None:
    first, second = subnets(cloud, "a", "b")
    memory.put(STOCK, f"{MACHINE}/eu-west-1a", {"count": 3})
    made = cloud.create(GROUP, **group(2, subnetIds=[first]))
    with pytest.raises(
        grpc.RpcError, match=r"InsufficientInstanceCapacity .* sufficient p5\.48xlarge .*eu-west-1a"
    ):
        cloud.update(GROUP, made, **group(4, subnetIds=[first]))
    with pytest.raises(grpc.RpcError, match="InsufficientInstanceCapacity"):
        cloud.create(GROUP, **group(2, nodeGroupName="more", subnetIds=[first]))
    cloud.create(GROUP, **group(1, nodeGroupName="one", subnetIds=[first]))
    # unlimited in the other zone
    cloud.create(GROUP, **group(9, nodeGroupName="wide", subnetIds=[first, second]))
    cloud.create(
        GROUP, **group(9, nodeGroupName="small", subnetIds=[first], instanceTypes=["g6.2xlarge"])
    )


@pytest.mark.parametrize(
    ("strategy", "room", "passes"),
    [("DEFAULT", 3, True), ("DEFAULT", 2, False), ("MINIMAL", 2, True)],
)
def test_row_31_an_update_that_surges_needs_free_capacity(
    cloud: Any, memory: Memory, strategy: str, room: int, passes: bool
) -> None:
    (subnet,) = subnets(cloud, "a")
    memory.put(STOCK, f"{MACHINE}/eu-west-1a", {"count": room})
    inputs = group(
        2,
        subnetIds=[subnet],
        releaseVersion="1.34.1-20260101",
        updateConfig={"updateStrategy": strategy},
    )
    made = cloud.create(GROUP, **inputs)
    later = {**inputs, "releaseVersion": "1.34.2-20260201"}
    cloud.update(GROUP, made, **{**inputs, "labels": {"team": "a"}})  # this replaces no node
    if passes:
        cloud.update(GROUP, made, **later)
        return
    with pytest.raises(grpc.RpcError, match="new nodes are not joining node group gpu"):
        cloud.update(GROUP, made, **later)


def test_an_update_of_many_nodes_one_by_one_times_out(cloud: Any) -> None:
    inputs = {**group(13), "scalingConfig": {"minSize": 0, "desiredSize": 13, "maxSize": 20}}
    inputs["releaseVersion"] = "1.34.1-20260101"
    made = cloud.create(GROUP, **inputs)
    later = {**inputs, "releaseVersion": "1.34.2-20260201"}
    with pytest.raises(
        grpc.RpcError, match="timeout while waiting for state to become 'Successful'"
    ):
        cloud.update(GROUP, made, **later)
    cloud.update(GROUP, made, **{**inputs, "labels": {"team": "a"}})
    cloud.update(GROUP, made, hours=8, **later)
    cloud.update(
        GROUP,
        made,
        **{**later, "updateConfig": {"maxUnavailable": 2}, "releaseVersion": "1.34.3-20260301"},
    )


def test_exceeding_the_vcpu_quota_fails(cloud: Any, memory: Memory) -> None:
    memory.put(
        QUOTA, "Running On-Demand G and VT instances", {"vcpus": 16, "families": ["g5", "g6"]}
    )
    made = cloud.create(GROUP, **group(2, instanceTypes=["g6.2xlarge"]))
    message = (
        "VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit "
        "of 16 allows"
    )
    with pytest.raises(grpc.RpcError, match=message):
        cloud.update(GROUP, made, **group(3, instanceTypes=["g6.2xlarge"]))
    with pytest.raises(grpc.RpcError, match=message):
        cloud.create(GROUP, **group(1, nodeGroupName="more", instanceTypes=["g5.xlarge"]))
    cloud.update(GROUP, made, **group(1, instanceTypes=["g6.2xlarge"]))
    cloud.create(GROUP, **group(1, nodeGroupName="large"))
    cloud.create(
        GROUP, **group(9, nodeGroupName="spot", instanceTypes=["g6.2xlarge"], capacityType="SPOT")
    )


def test_the_spot_role_exists_after_the_first_spot_group(
    cloud: Any,
) -> None:
    def roles(service: str) -> list[str]:
        return list(
            cloud.invoke("aws:iam/getRoles:getRoles", pathPrefix=f"/aws-service-role/{service}/")[
                "names"
            ]
        )

    cloud.create(GROUP, **group())
    assert (roles("spot.amazonaws.com"), roles("autoscaling.amazonaws.com")) == (
        [],
        ["AWSServiceRoleForAutoScaling"],
    )
    cloud.create(GROUP, **group(nodeGroupName="spot", capacityType="SPOT"))
    assert roles("spot.amazonaws.com") == ["AWSServiceRoleForEC2Spot"]


def test_row_33_a_blocking_pod_fails_an_update_unless_forced(cloud: Any, memory: Memory) -> None:
    inputs = group(2, releaseVersion="1.34.1-20260101")
    made = cloud.create(GROUP, **inputs)
    memory.put(STAYING_POD, "team/train-0", {"nodeGroup": made["id"]})
    cloud.update(GROUP, made, **{**inputs, "labels": {"team": "a"}})
    later = {**inputs, "releaseVersion": "1.34.2-20260201"}
    with pytest.raises(
        grpc.RpcError, match=r"PodEvictionFailure: .* node group gpu \(team/train-0\)"
    ):
        cloud.update(GROUP, made, **later)
    assert (
        cloud.update(GROUP, made, **later, forceUpdateVersion=True)["releaseVersion"]
        == "1.34.2-20260201"
    )


def test_the_secrets_key_must_be_in_the_clusters_region(cloud: Any) -> None:
    plane = {
        "name": "main",
        "roleArn": "arn",
        "vpcConfig": {"subnetIds": subnets(cloud, "a", "b")},
        "version": "1.34",
    }
    there, here = (
        {
            "provider": {"keyArn": f"arn:aws:kms:{region}:111122223333:key/k"},
            "resources": ["secrets"],
        }
        for region in ("us-east-1", "eu-west-1")
    )
    with pytest.raises(
        grpc.RpcError, match="us-east-1:111122223333:key/k is not in the region of the cluster"
    ):
        cloud.create(CLUSTER, **plane, encryptionConfig=there)
    assert cloud.create(CLUSTER, **plane, encryptionConfig=here)


def test_row_40_a_zone_without_capacity_for_a_control_plane_fails(
    cloud: Any, memory: Memory
) -> None:
    vpc = {"subnetIds": subnets(cloud, "a", "b")}
    plane = {"name": "main", "roleArn": "arn", "vpcConfig": vpc, "version": "1.34"}
    memory.put(FULL_ZONE, "eu-west-1b", {})
    with pytest.raises(
        grpc.RpcError, match="Cannot create cluster 'main' because eu-west-1b, the targeted"
    ):
        cloud.create(CLUSTER, **plane)
    memory.drop(FULL_ZONE, "eu-west-1b")
    made = cloud.create(CLUSTER, **plane)
    memory.put(FULL_ZONE, "eu-west-1b", {})
    cloud.update(CLUSTER, made, **plane, tags={"team": "a"})  # an existing one isn't changed


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ('{"replicaCount": 3}', ""),
        ("", ""),
        ("null", "[$: null found, object expected]"),
        ("[]", "[$: array found, object expected]"),
        ("3", "[$: number found, object expected]"),
        ("replicaCount: 3", "is not a valid JSON"),
    ],
)
def test_row_49_addon_configuration_must_be_an_object(
    cloud: Any, values: str, message: str
) -> None:
    found = cloud.check_error(
        ADDON, {"clusterName": "main", "addonName": "coredns", "configurationValues": values}
    )
    assert message in found
    assert bool(found) is bool(message)


def test_row_51_a_cluster_has_a_limit_of_associations(cloud: Any, memory: Memory) -> None:
    one = {
        "clusterName": "main",
        "namespace": "team",
        "roleArn": "arn:aws:iam::123456789012:role/team",
    }
    for index in range(ASSOCIATIONS - 1):
        memory.put(ASSOCIATION, f"a-{index}", {**one, "serviceAccount": f"s{index}"})
    cloud.create(ASSOCIATION, **one, serviceAccount="last")
    with pytest.raises(grpc.RpcError, match="1000 Pod Identity associations at most"):
        cloud.create(ASSOCIATION, **one, serviceAccount="one-more")
    cloud.create(ASSOCIATION, **{**one, "clusterName": "other"}, serviceAccount="one-more")
