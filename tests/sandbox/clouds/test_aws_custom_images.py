"""Node groups with a custom image: what EKS refuses, and the settings with which nodes join."""

from __future__ import annotations

import base64
from typing import Any

import grpc
import pytest
import yaml

from dra_sandbox.clouds.existing_resources import Memory

GROUP, CLUSTER = "aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster"
TEMPLATE, NEW_NODE = "aws:ec2/launchTemplate:LaunchTemplate", "dra-sandbox:aws:NewNode"
AMI = "ami-0123456789abcdef0"
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
FLAGS = [
    "--node-labels=nvidia.com/gpu.dra=true,team=vision",
    "--register-with-taints=nvidia.com/gpu=present:NoSchedule",
]


@pytest.fixture
def cluster(cloud: Any) -> dict[str, Any]:
    made: dict[str, Any] = cloud.create(
        CLUSTER,
        name="main",
        roleArn="arn",
        vpcConfig={"subnetIds": ["subnet-1", "subnet-2"]},
        version="1.34",
    )
    return made


def coordinates(cluster: dict[str, Any], **other: str) -> dict[str, Any]:
    return {
        "name": "main",
        "apiServerEndpoint": cluster["endpoint"],
        "certificateAuthority": cluster["certificateAuthority"]["data"],
        "cidr": cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
        **other,
    }


def user_data(*specs: dict[str, Any]) -> str:
    parts = "".join(
        "--x\nContent-Type: application/node.eks.aws\n\n"
        + yaml.safe_dump(
            {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
        )
        + "\n"
        for spec in specs
    )
    text = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n{parts}--x--\n'
    return base64.b64encode(text.encode()).decode()


def group(cloud: Any, template: dict[str, Any], **inputs: Any) -> dict[str, Any]:
    """Return the inputs of a group with one node and its own launch template."""
    made = cloud.create(TEMPLATE, name=f"t{len(str(template))}", **template)
    return {
        "clusterName": "main",
        "nodeGroupName": "gpu",
        "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
        "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 4},
        "taints": [TAINT],
        "labels": {"nvidia.com/gpu.dra": "true"},
        "launchTemplate": {"id": made["id"], "version": "1"},
        **inputs,
    }


def test_nodes_with_the_clusters_node_config_join(cloud: Any, cluster: dict[str, Any]) -> None:
    encoded = user_data({"cluster": coordinates(cluster)}, {"kubelet": {"config": {"maxPods": 29}}})
    made = cloud.create(GROUP, **group(cloud, {"imageId": AMI, "userData": encoded}))
    assert made["amiType"] == "CUSTOM"


@pytest.mark.parametrize(
    ("other", "missing"),
    [
        ({"apiServerEndpoint": ""}, "apiServerEndpoint"),
        ({"certificateAuthority": "b3RoZXI="}, "certificateAuthority"),
        ({"cidr": "10.100.0.0/16"}, "cidr"),
        ({"name": "other"}, "name"),
    ],
)
def test_nodes_with_another_clusters_node_config_do_not_join(
    cloud: Any, cluster: dict[str, Any], other: dict[str, str], missing: str
) -> None:
    encoded = user_data({"cluster": coordinates(cluster, **other)})
    with pytest.raises(
        grpc.RpcError,
        match=f"Instances failed to join the kubernetes cluster: {missing} of NodeConfig",
    ):
        cloud.create(GROUP, **group(cloud, {"imageId": AMI, "userData": encoded}))


def test_nodes_without_node_config_fail_at_the_first_node(
    cloud: Any, cluster: dict[str, Any]
) -> None:
    empty = {"minSize": 0, "desiredSize": 0, "maxSize": 4}
    inputs = group(cloud, {"imageId": AMI}, scalingConfig=empty)
    made = cloud.create(GROUP, **inputs)
    with pytest.raises(
        grpc.RpcError, match="failed to join the kubernetes cluster: name, apiServerEndpoint"
    ):
        cloud.update(GROUP, made, **{**inputs, "scalingConfig": {**empty, "desiredSize": 1}})


def test_a_release_version_with_a_custom_image_is_rejected(
    cloud: Any, cluster: dict[str, Any]
) -> None:
    template = {"imageId": AMI, "userData": user_data({"cluster": coordinates(cluster)})}
    with pytest.raises(grpc.RpcError, match="You cannot specify a release version"):
        cloud.create(GROUP, **group(cloud, template, releaseVersion="1.34.2-20260115"))


def test_a_group_cannot_switch_between_custom_and_eks_images(
    cloud: Any, cluster: dict[str, Any]
) -> None:
    own = {"imageId": AMI, "userData": user_data({"cluster": coordinates(cluster)})}
    made = cloud.create(GROUP, **group(cloud, own))
    with pytest.raises(
        grpc.RpcError,
        match="You must create a new node group to switch between specifying an AMI ID",
    ):
        cloud.update(GROUP, made, **group(cloud, {}))
    usual = cloud.create(GROUP, **group(cloud, {}, nodeGroupName="usual"))
    with pytest.raises(grpc.RpcError, match="You must create a new node group"):
        cloud.update(GROUP, usual, **group(cloud, own, nodeGroupName="usual"))


def test_nodes_join_with_the_labels_and_taints_of_kubelets_flags(
    cloud: Any, cluster: dict[str, Any], memory: Memory
) -> None:
    silent = {"imageId": AMI, "userData": user_data({"cluster": coordinates(cluster)})}
    flags = {
        **silent,
        "userData": user_data({"cluster": coordinates(cluster), "kubelet": {"flags": FLAGS}}),
    }
    for name, template in (("usual", {}), ("silent", silent), ("told", flags)):
        cloud.create(GROUP, **group(cloud, template, nodeGroupName=name))
    nodes = memory.all(NEW_NODE)
    assert nodes["main:usual"] == {
        "labels": {"nvidia.com/gpu.dra": "true"},
        "taints": ["nvidia.com/gpu=present:NoSchedule"],
    }
    assert nodes["main:silent"] == {"labels": {}, "taints": []}
    assert nodes["main:told"] == {
        "labels": {"nvidia.com/gpu.dra": "true", "team": "vision"},
        "taints": ["nvidia.com/gpu=present:NoSchedule"],
    }
