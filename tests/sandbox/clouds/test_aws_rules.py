"""Errors of EKS and EC2, with their own messages, that depend on the inputs or on existing
resources.
"""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest

GROUP, CLUSTER = "aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster"
TEMPLATE, ENTRY = "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/accessEntry:AccessEntry"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
GROUP_INPUTS: dict[str, Any] = {
    "clusterName": "main",
    "nodeGroupName": "gpu",
    "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
    "subnetIds": ["subnet-1"],
    "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 4},
}
CLUSTER_INPUTS: dict[str, Any] = {
    "name": "main",
    "roleArn": "arn",
    "vpcConfig": {"subnetIds": ["subnet-1", "subnet-2"]},
    "version": "1.34",
}


def sizes(low: int, wanted: int, high: int) -> dict[str, int]:
    return {"minSize": low, "desiredSize": wanted, "maxSize": high}


def volume(**ebs: Any) -> dict[str, Any]:
    return {
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeType": "gp3", **ebs}}]
    }


AT_ONCE = {
    "a label of Kubernetes": (GROUP, {"labels": {"kubernetes.io/x": "y"}}, "reserved prefixes"),
    "a label of EKS": (GROUP, {"labels": {"eks.amazonaws.com/x": "y"}}, "reserved prefixes"),
    "a label without a value": (
        GROUP,
        {"labels": {"x": ""}},
        "must consist of alphanumeric characters",
    ),
    "a long key": (GROUP, {"labels": {"x" * 64: "y"}}, "1 to 63 characters"),
    "a value of two words": (
        GROUP,
        {"labels": {"x": "a b"}},
        "Invalid value: a b: field must consist of",
    ),
    "a key of two words": (
        GROUP,
        {"labels": {"a b": "y"}},
        "Invalid value: a b: field must consist of",
    ),
    "a taint of two words": (
        GROUP,
        {"taints": [{"key": "a b", "effect": "NO_SCHEDULE"}]},
        "alphanumeric characters",
    ),
    "51 tags": (GROUP, {"tags": {f"k{n}": "v" for n in range(51)}}, "tags has 51 members"),
    "a name of 64 characters": (
        GROUP,
        {"nodeGroupName": "n" * 64},
        "nodeGroupName to be in the range (1 - 63)",
    ),
    "a name that starts with a hyphen": (
        GROUP,
        {"nodeGroupName": "-n"},
        "must begin with a letter or a digit",
    ),
    "a reservation despite the preference for none": (
        TEMPLATE,
        {
            "capacityReservationSpecification": {
                "capacityReservationPreference": "none",
                "capacityReservationTarget": {"capacityReservationId": "cr-1"},
            }
        },
        "needs capacityReservationPreference capacity-reservations-only",
    ),
    "21 machines": (
        GROUP,
        {"instanceTypes": ["g6.2xlarge"] * 21},
        "instanceTypes has 21 members, and 20 at most",
    ),
    "an update strategy that EKS doesn't have": (
        GROUP,
        {"updateConfig": {"maxUnavailable": 1, "updateStrategy": "FAST"}},
        "is not one of DEFAULT, MINIMAL",
    ),
    "51 taints": (
        GROUP,
        {"taints": [{"key": f"k{n}", "effect": "NO_SCHEDULE"} for n in range(51)]},
        "50 items",
    ),
    "two update limits": (
        GROUP,
        {"updateConfig": {"maxUnavailable": 1, "maxUnavailablePercentage": 1}},
        "exclude each other",
    ),
    "a negative minimum": (
        GROUP,
        {"scalingConfig": sizes(-1, 0, 1)},
        "minSize can't be less than 0",
    ),
    "a negative desired size": (
        GROUP,
        {"scalingConfig": sizes(0, -1, 1)},
        "desiredSize can't be less than 0",
    ),
    "a maximum of zero": (GROUP, {"scalingConfig": sizes(0, 0, 0)}, "maxSize can't be less than 1"),
    "a template by ID and name": (
        GROUP,
        {"launchTemplate": {"id": "lt-1", "name": "a", "version": "1"}},
        "Either provide launch template ID or",
    ),
    "a release of another minor version": (
        GROUP,
        {"version": "1.30", "releaseVersion": "1.31.3-20250103"},
        "Requested release version 1.31.3-20250103 is not valid for kubernetes version 1.30.",
    ),
    "an invalid release": (
        GROUP,
        {"releaseVersion": "latest"},
        "release version latest is invalid",
    ),
    "an invalid version": (CLUSTER, {"version": "x"}, "unsupported Kubernetes version"),
    "an outdated version": (CLUSTER, {"version": "1.10"}, "unsupported Kubernetes version"),
    "a version with its patch": (CLUSTER, {"version": "1.34.2"}, "unsupported Kubernetes version"),
    "an invalid node version": (GROUP, {"version": "x"}, "unsupported Kubernetes version"),
    "an invalid tier": (
        CLUSTER,
        {"controlPlaneScalingConfig": {"tier": "tier-3xl"}},
        "is not one of standard",
    ),
    "services on public addresses": (
        CLUSTER,
        {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "8.8.0.0/16"}},
        "must be a private range of /12 to /24",
    ),
    "an invalid network": (
        CLUSTER,
        {
            "vpcConfig": {
                **CLUSTER_INPUTS["vpcConfig"],
                "publicAccessCidrs": ["203.0.113.0/24", "office"],
            }
        },
        "invalid in publicAccessCidrs: [office]",
    ),
    "a network of IPv6": (
        CLUSTER,
        {"vpcConfig": {**CLUSTER_INPUTS["vpcConfig"], "publicAccessCidrs": ["2001:db8::/32"]}},
        "invalid in publicAccessCidrs: [2001:db8::/32]",
    ),
    "a private network": (
        CLUSTER,
        {
            "vpcConfig": {
                **CLUSTER_INPUTS["vpcConfig"],
                "publicAccessCidrs": ["203.0.113.0/24", "10.1.0.0/16"],
            }
        },
        "invalid in publicAccessCidrs: [10.1.0.0/16]",
    ),
    "one subnet": (
        CLUSTER,
        {"vpcConfig": {"subnetIds": ["subnet-1"]}},
        "at least two different AZs",
    ),
    "no endpoint": (
        CLUSTER,
        {
            "vpcConfig": {
                **CLUSTER_INPUTS["vpcConfig"],
                "endpointPublicAccess": False,
                "endpointPrivateAccess": False,
            }
        },
        "cannot both be false",
    ),
    "no creator access with the ConfigMap mode": (
        CLUSTER,
        {"accessConfig": {"bootstrapClusterCreatorAdminPermissions": False}},
        "must be true if cluster authentication mode is set to CONFIG_MAP",
    ),
    "an interface without index": (
        TEMPLATE,
        {"networkInterfaces": [{}]},
        "requires a device index",
    ),
    "a duplicate index": (
        TEMPLATE,
        {"networkInterfaces": [{"deviceIndex": 0}, {"deviceIndex": 0}]},
        "requires a unique device index",
    ),
    "an index that the card doesn't have": (
        TEMPLATE,
        {"networkInterfaces": [{"networkCardIndex": 2, "deviceIndex": 2}]},
        "The specified number '2' for the device index exceeds the maximum",
    ),
    "a primary interface without addresses": (
        TEMPLATE,
        {"networkInterfaces": [{"deviceIndex": 0, "interfaceType": "efa-only"}]},
        "cannot be the primary interface",
    ),
    "a volume that is too small for its speed": (
        TEMPLATE,
        volume(volumeSize=20, iops=15000),
        "Iops to volume size ratio of 750.000000 is too high; maximum is 500",
    ),
    "throughput for more operations": (
        TEMPLATE,
        volume(volumeSize=200, throughput=1000),
        (
            "Throughput (MiBps) to iops ratio of 0.333333 is too high; maximum is 0.250000 MiBps "
            "per "
            "iops"
        ),
    ),
    "few operations": (
        TEMPLATE,
        volume(volumeSize=200, iops=100),
        "Volume iops of 100 is not between 3000 and 80000",
    ),
    "throughput above the maximum": (
        TEMPLATE,
        volume(volumeSize=200, iops=16000, throughput=4000),
        "Volume throughput of 4000 is not between 125 and 2000",
    ),
    "throughput of gp2": (
        TEMPLATE,
        volume(volumeType="gp2", throughput=200),
        "only be specified for volumeType gp3",
    ),
    "an entry of a session": (
        ENTRY,
        {"principalArn": "arn:aws:sts::123456789012:assumed-role/admin/me"},
        "The principalArn parameter format is not valid",
    ),
    "an entry of a group of IAM": (
        ENTRY,
        {"principalArn": "arn:aws:iam::123456789012:group/admins"},
        "The principalArn parameter format is not valid",
    ),
    "an entry of a service's role": (
        ENTRY,
        {
            "principalArn": "arn:aws:iam::123456789012:role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForEKS"
        },
        "principalArn value of a Service Linked Role",
    ),
    "an entry of a role of Identity Center without its path": (
        ENTRY,
        {"principalArn": "arn:aws:iam::123456789012:role/AWSReservedSSO_Admin_0123456789abcdef"},
        "The specified principalArn is invalid: invalid principal.",
    ),
    "an entry of a group of Kubernetes' own": (
        ENTRY,
        {
            "principalArn": "arn:aws:iam::123456789012:role/admin",
            "kubernetesGroups": ["system:masters"],
        },
        "The kubernetes group name system:masters is invalid, it cannot start with system:",
    ),
    "a grant by an alias": (
        "aws:kms/grant:Grant",
        {"keyId": "arn:aws:kms:eu-west-1:123456789012:alias/mine"},
        "InvalidArnException: Key Aliases are not supported for this operation.",
    ),
    "tags of a role that differ by case": (
        "aws:iam/role:Role",
        {"tags": {"Owner": "a", "owner": "b"}},
        "InvalidInput: Duplicate tag keys found. Please note that Tag keys are case insensitive.",
    ),
    "a tag of a role with a comma": (
        "aws:iam/role:Role",
        {"tags": {"teams": "a, b"}},
        "Value 'a, b' at 'tags.1.member.value' failed to satisfy constraint",
    ),
    "a tag of a role in brackets": (
        "aws:iam/role:Role",
        {"tags": {"team (own)": "a"}},
        "Value 'team (own)' at 'tags.1.member.key' failed to satisfy constraint",
    ),
    "an endpoint in China with a global name": (
        ENDPOINT,
        {"serviceName": "com.amazonaws.cn-north-1.ecr.api"},
        (
            "InvalidServiceName: The Vpc Endpoint Service 'com.amazonaws.cn-north-1.ecr.api' does "
            "not "
            "exist"
        ),
    ),
    "a global S3 endpoint with a name in China": (
        ENDPOINT,
        {"serviceName": "cn.com.amazonaws.us-east-1.ec2"},
        (
            "InvalidServiceName: The Vpc Endpoint Service 'cn.com.amazonaws.us-east-1.ec2' does "
            "not "
            "exist"
        ),
    ),
}
ENTRY_INPUTS = {"clusterName": "main", "principalArn": "arn:aws:iam::123456789012:role/admin"}
GRANT_INPUTS = {
    "keyId": "arn:aws:kms:eu-west-1:123456789012:key/mine",
    "granteePrincipal": "arn:aws:iam::123456789012:role/nodes",
    "operations": ["Encrypt"],
}
WHOLE: dict[str, dict[str, Any]] = {
    GROUP: GROUP_INPUTS,
    CLUSTER: CLUSTER_INPUTS,
    TEMPLATE: {},
    ENTRY: ENTRY_INPUTS,
    ENDPOINT: {"vpcId": "vpc-1", "vpcEndpointType": "Interface"},
    "aws:kms/grant:Grant": GRANT_INPUTS,
    "aws:iam/role:Role": {"assumeRolePolicy": "{}"},
}
TAKEN = {
    "services in China": (ENDPOINT, {"serviceName": "cn.com.amazonaws.cn-north-1.ecr.api"}),
    "a service in China with a global name": (
        ENDPOINT,
        {"serviceName": "com.amazonaws.cn-north-1.logs"},
    ),
    "S3 in China with either name": (
        ENDPOINT,
        {"serviceName": "com.amazonaws.cn-northwest-1.s3"},
    ),
    "services in other regions": (ENDPOINT, {"serviceName": "com.amazonaws.us-gov-west-1.sts"}),
    "a user": (ENTRY, {"principalArn": "arn:aws:iam::123456789012:user/me"}),
    "a role of Identity Center": (
        ENTRY,
        {
            "principalArn": "arn:aws-cn:iam::123456789012:role/aws-reserved/sso.amazonaws.com/eu-west-1/"
            "AWSReservedSSO_Admin_0123456789abcdef"
        },
    ),
    "tags in other scripts": ("aws:iam/role:Role", {"tags": {"Größe": "a b_1.:/=+-@", "team": ""}}),
}


@pytest.mark.parametrize("token", WHOLE)
def test_valid_inputs_are_accepted(cloud: Any, token: str) -> None:
    assert cloud.check_error(token, WHOLE[token]) == ""


@pytest.mark.parametrize(("token", "change", "reason"), AT_ONCE.values(), ids=AT_ONCE)
def test_invalid_inputs_are_rejected_in_a_preview(
    cloud: Any, token: str, change: dict[str, Any], reason: str
) -> None:
    assert reason in cloud.check_error(token, {**WHOLE[token], **change})


@pytest.mark.parametrize(("token", "change"), TAKEN.values(), ids=TAKEN)
def test_inputs_that_resemble_invalid_ones_are_accepted(
    cloud: Any, token: str, change: dict[str, Any]
) -> None:
    assert cloud.check_error(token, {**WHOLE[token], **change}) == ""


def test_a_minimum_above_the_desired_size_is_rejected(cloud: Any) -> None:
    with pytest.raises(grpc.RpcError, match="minSize can't be greater than desiredSize"):
        cloud.create(GROUP, **{**GROUP_INPUTS, "scalingConfig": sizes(2, 1, 4)})
    group = cloud.create(GROUP, **GROUP_INPUTS)
    with pytest.raises(
        grpc.RpcError, match="Minimum capacity 2 can't be greater than desired size 1"
    ):
        cloud.update(GROUP, group, **{**GROUP_INPUTS, "scalingConfig": sizes(2, 1, 4)})
    with pytest.raises(grpc.RpcError, match="desiredSize can't be greater than maxSize"):
        cloud.update(GROUP, group, **{**GROUP_INPUTS, "scalingConfig": sizes(0, 5, 4)})


def test_node_groups_can_be_looked_up(cloud: Any) -> None:
    cloud.create(GROUP, **GROUP_INPUTS, labels={"pulumi-dra/pool": "l4"})
    names = cloud.invoke("aws:eks/getNodeGroups:getNodeGroups", clusterName="main")["names"]
    found = cloud.invoke(
        "aws:eks/getNodeGroup:getNodeGroup", clusterName="main", nodeGroupName=names[0]
    )
    assert names == ["gpu"]
    assert (found["labels"], found["scalingConfigs"]) == (
        {"pulumi-dra/pool": "l4"},
        [sizes(0, 1, 4)],
    )
    assert cloud.invoke("aws:eks/getNodeGroups:getNodeGroups", clusterName="other")["names"] == []


TEMPLATES = {
    "machine twice": (
        {"instanceType": "g6.2xlarge"},
        {"instanceTypes": ["g6.2xlarge"]},
        "in launch template and API",
    ),
    "image with a type": (
        {"imageId": "ami-1"},
        {"amiType": "AL2023_x86_64_NVIDIA"},
        "AMI Type other than CUSTOM",
    ),
    "image with a version": (
        {"imageId": "ami-1"},
        {"version": "1.34"},
        "cannot specify a kubernetes version",
    ),
    "block without market": (
        {},
        {"capacityType": "CAPACITY_BLOCK"},
        "needs the market type, the reservation, the",
    ),
    "a subnet": (
        {"networkInterfaces": [{"deviceIndex": 0, "subnetId": "subnet-1"}]},
        {},
        "cannot name subnets",
    ),
}


@pytest.mark.parametrize(("template", "change", "reason"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_group_that_contradicts_its_template_is_rejected(
    cloud: Any, template: dict[str, Any], change: dict[str, Any], reason: str
) -> None:
    launch = {"id": cloud.create(TEMPLATE, name="gpu", **template)["id"], "version": "1"}
    with pytest.raises(grpc.RpcError, match=reason):
        cloud.create(GROUP, **{**GROUP_INPUTS, **change, "launchTemplate": launch})


def test_minor_versions_are_upgraded_in_sequence_with_their_groups(cloud: Any) -> None:
    cluster = cloud.create(CLUSTER, **CLUSTER_INPUTS)
    group = cloud.create(GROUP, **GROUP_INPUTS, version="1.34")
    with pytest.raises(grpc.RpcError, match=r"version update from 1\.34 to 1\.36"):
        cloud.update(CLUSTER, cluster, **{**CLUSTER_INPUTS, "version": "1.36"})
    with pytest.raises(grpc.RpcError, match="above the cluster's"):
        cloud.update(GROUP, group, **GROUP_INPUTS, version="1.35")
    cluster |= cloud.update(CLUSTER, cluster, **{**CLUSTER_INPUTS, "version": "1.35"})
    with pytest.raises(
        grpc.RpcError, match=r"Nodegroups gpu must be updated to match cluster version 1\.35"
    ):
        cloud.update(CLUSTER, cluster, **{**CLUSTER_INPUTS, "version": "1.36"})
    group |= cloud.update(GROUP, group, **GROUP_INPUTS, version="1.35")
    assert (
        cloud.update(CLUSTER, cluster, **{**CLUSTER_INPUTS, "version": "1.36"})["version"] == "1.36"
    )
    with pytest.raises(grpc.RpcError, match=r"from Kubernetes 1\.35 back to 1\.34"):
        cloud.update(GROUP, group, **GROUP_INPUTS, version="1.34")


def test_the_default_release_matches_the_cluster_and_never_decreases(cloud: Any) -> None:
    """Bottlerocket has its own release numbers."""
    cloud.create(CLUSTER, **{**CLUSTER_INPUTS, "version": "1.35"})
    with pytest.raises(
        grpc.RpcError, match=r"1\.34\.2-20260115 is not valid for kubernetes version 1\.35"
    ):
        cloud.create(GROUP, **GROUP_INPUTS, releaseVersion="1.34.2-20260115")
    group = cloud.create(GROUP, **GROUP_INPUTS, releaseVersion="1.35.2-20260115")
    with pytest.raises(
        grpc.RpcError, match=r"from release 1\.35\.2-20260115 back to 1\.35\.1-20260201"
    ):
        cloud.update(GROUP, group, **GROUP_INPUTS, releaseVersion="1.35.1-20260201")
    own = {
        "nodeGroupName": "other",
        "amiType": "BOTTLEROCKET_x86_64_NVIDIA",
        "releaseVersion": "1.50.0-5d9ac849",
    }
    cloud.create(GROUP, **{**GROUP_INPUTS, **own})


def test_a_cluster_is_deleted_after_its_groups(cloud: Any) -> None:
    cluster, group = cloud.create(CLUSTER, **CLUSTER_INPUTS), cloud.create(GROUP, **GROUP_INPUTS)
    with pytest.raises(grpc.RpcError, match="Cluster has nodegroups attached"):
        cloud.delete(CLUSTER, cluster)
    cloud.delete(GROUP, group)
    cloud.delete(CLUSTER, cluster)


@pytest.mark.parametrize(
    "principal", ["arn:aws:iam::123456789012:role/nodes", "arn:aws:iam::123456789012:role/admin"]
)
def test_a_principal_has_only_one_access_entry(cloud: Any, principal: str) -> None:
    cloud.create(GROUP, **GROUP_INPUTS)
    cloud.create(ENTRY, clusterName="main", principalArn="arn:aws:iam::123456789012:role/admin")
    with pytest.raises(grpc.RpcError, match="already in use on this cluster"):
        cloud.create(ENTRY, clusterName="main", principalArn=principal)


KEY, GRANT = "arn:aws:kms:eu-west-1:123456789012:key/mine", "aws:kms/grant:Grant"
ROLE = "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
USE = [
    "Encrypt",
    "Decrypt",
    "ReEncryptFrom",
    "ReEncryptTo",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "DescribeKey",
    "CreateGrant",
]
KEY_POLICY = {
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::123456789012:root"},
            "Action": "kms:*",
        },
        {
            "Effect": "Allow",
            "Principal": {"AWS": [ROLE]},
            "Action": [
                "kms:Encrypt",
                "kms:Decrypt",
                "kms:ReEncrypt*",
                "kms:GenerateDataKey*",
                "kms:DescribeKey",
            ],
        },
        {"Effect": "Allow", "Principal": {"AWS": ROLE}, "Action": "kms:CreateGrant"},
    ]
}


def encrypted(cloud: Any, desired: int = 1) -> dict[str, Any]:
    """Return a second group of the cluster, whose volumes are encrypted with a customer-managed
    key.
    """
    volumes = [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true", "kmsKeyId": KEY}}]
    template = cloud.create(TEMPLATE, name="gpu", blockDeviceMappings=volumes)
    launch = {"id": template["id"], "version": "1"}
    return {
        **GROUP_INPUTS,
        "nodeGroupName": "own-key",
        "launchTemplate": launch,
        "scalingConfig": sizes(0, desired, 4),
    }


def test_nodes_fail_at_launch_if_auto_scaling_cannot_use_the_key(cloud: Any) -> None:
    cloud.create(GROUP, **GROUP_INPUTS)
    group = encrypted(cloud)
    with pytest.raises(grpc.RpcError, match=r"Client\.InvalidKMSKey\.InvalidState"):
        cloud.create(GROUP, **group)
    cloud.create(GRANT, keyId=KEY, granteePrincipal=ROLE, operations=USE[:-1])
    with pytest.raises(grpc.RpcError, match=r"Client\.InvalidKMSKey\.InvalidState"):
        cloud.create(GROUP, **group)
    cloud.create(GRANT, keyId=KEY, granteePrincipal=ROLE, operations=USE)
    cloud.create(GROUP, **group)


def test_an_empty_group_fails_at_its_first_node_without_key_access(cloud: Any) -> None:
    group = encrypted(cloud, desired=0)
    made = cloud.create(GROUP, **group)
    with pytest.raises(grpc.RpcError, match="AsgInstanceLaunchFailures"):
        cloud.update(GROUP, made, **{**group, "scalingConfig": sizes(0, 1, 4)})


def test_a_key_policy_grants_access(cloud: Any) -> None:
    cloud.create(GROUP, **GROUP_INPUTS)
    cloud.create("aws:kms/keyPolicy:KeyPolicy", keyId="mine", policy=json.dumps(KEY_POLICY))
    assert cloud.create(GROUP, **encrypted(cloud))


def test_the_auto_scaling_role_is_created_with_the_first_group(cloud: Any) -> None:
    with pytest.raises(grpc.RpcError, match="one or more invalid principals"):
        cloud.create("aws:kms/key:Key", policy=json.dumps(KEY_POLICY))
    with pytest.raises(grpc.RpcError, match="InvalidArnException"):
        cloud.create(GRANT, keyId=KEY, granteePrincipal=ROLE, operations=USE)
    cloud.create(
        "aws:iam/serviceLinkedRole:ServiceLinkedRole", awsServiceName="autoscaling.amazonaws.com"
    )
    cloud.create("aws:kms/key:Key", policy=json.dumps(KEY_POLICY))
