"""Errors of EKS and EC2 that depend on other resources: clusters, add-ons, subnets, instances, and
network interfaces.
"""

from __future__ import annotations

import base64
from typing import Any

import grpc
import pytest

from dra_sandbox.clouds.aws.lost_zones import LOST_ZONE
from dra_sandbox.clouds.aws.scaling_groups import TAGGED
from dra_sandbox.clouds.existing_resources import Memory

GROUP, CLUSTER, ADDON = (
    "aws:eks/nodeGroup:NodeGroup",
    "aws:eks/cluster:Cluster",
    "aws:eks/addon:Addon",
)
BALANCER = "aws:lb/loadBalancer:LoadBalancer"
TEMPLATE, SUBNET = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/subnet:Subnet"


def group(**change: Any) -> dict[str, Any]:
    return {
        "clusterName": "main",
        "nodeGroupName": "gpu",
        "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
        "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 4},
        **change,
    }


def cluster(**change: Any) -> dict[str, Any]:
    vpc = {"subnetIds": ["subnet-1", "subnet-2"]}
    return {"name": "main", "roleArn": "arn", "vpcConfig": vpc, "version": "1.34", **change}


def subnets(cloud: Any, *zones: str) -> list[str]:
    """Return the ids of a subnet in each zone."""
    return [
        cloud.create(
            SUBNET,
            vpcId="vpc-1",
            cidrBlock=f"10.0.{index}.0/24",
            availabilityZone=f"eu-west-1{zone}",
        )["id"]
        for index, zone in enumerate(zones)
    ]


def refused(cloud: Any, reason: str, token: str, **inputs: Any) -> None:
    with pytest.raises(grpc.RpcError, match=reason):
        cloud.create(token, **inputs)


def test_row_12_a_group_starts_at_the_clusters_version(cloud: Any) -> None:
    cloud.create(CLUSTER, **cluster(version="1.35"))
    refused(cloud, r"version 1\.34 is not the cluster's, 1\.35", GROUP, **group(version="1.34"))
    cloud.create(GROUP, **group(version="1.35"))


def test_row_18_a_group_name_is_unique(cloud: Any) -> None:
    cloud.create(GROUP, **group())
    refused(cloud, "NodeGroup already exists with name gpu", GROUP, **group())
    cloud.create(GROUP, **group(clusterName="other"))


def test_row_22_a_capacity_block_must_be_empty_for_an_upgrade(cloud: Any) -> None:
    block = {
        "instanceType": "p5.48xlarge",
        "instanceMarketOptions": {"marketType": "capacity-block"},
        "capacityReservationSpecification": {
            "capacityReservationTarget": {"capacityReservationId": "cr-1"}
        },
    }
    launch = {"id": cloud.create(TEMPLATE, name="block", **block)["id"], "version": "1"}
    first = group(version="1.34", capacityType="CAPACITY_BLOCK", launchTemplate=launch)
    plane = cloud.create(CLUSTER, **cluster())
    made = cloud.create(GROUP, **first)
    plane |= cloud.update(CLUSTER, plane, **cluster(version="1.35"))
    later = {**first, "version": "1.35"}
    with pytest.raises(grpc.RpcError, match="must be 0 for an upgrade"):
        cloud.update(GROUP, made, **later)
    empty = {"scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4}}
    made |= cloud.update(GROUP, made, **{**first, **empty})
    assert cloud.update(GROUP, made, **{**later, **empty})["version"] == "1.35"


def test_row_23_a_placement_group_stays_in_one_zone(cloud: Any) -> None:
    template = cloud.create(TEMPLATE, name="close", placement={"groupName": "close"})
    inputs = group(
        launchTemplate={"id": template["id"], "version": "1"}, subnetIds=subnets(cloud, "a", "b")
    )
    made = cloud.create(GROUP, **inputs)
    with pytest.raises(grpc.RpcError, match="must be launched in the eu-west-1a Availability Zone"):
        cloud.update(GROUP, made, **{**inputs, "labels": {"team": "vision"}})


@pytest.mark.parametrize("block", [False, True], ids=["a reservation", "a Capacity Block"])
def test_reserved_capacity_cannot_use_a_later_placement_group(cloud: Any, block: bool) -> None:
    bought = {
        "capacityReservationSpecification": {
            "capacityReservationTarget": {"capacityReservationId": "cr-1"}
        }
    }
    if block:
        bought |= {
            "instanceType": "p5.48xlarge",
            "instanceMarketOptions": {"marketType": "capacity-block"},
        }
    kind = {"capacityType": "CAPACITY_BLOCK"} if block else {}
    close, apart = (
        {"id": cloud.create(TEMPLATE, name=name, **bought, **more)["id"], "version": "1"}
        for name, more in (("close", {"placement": {"groupName": "close"}}), ("apart", {}))
    )
    refused(
        cloud,
        "InsufficientInstanceCapacity.*cr-1.*close",
        GROUP,
        **group(launchTemplate=close, **kind),
    )
    cloud.create(GROUP, **group(launchTemplate=apart, **kind))
    none = {"minSize": 0, "desiredSize": 0, "maxSize": 4}
    cloud.create(
        GROUP, **group(nodeGroupName="empty", launchTemplate=close, scalingConfig=none, **kind)
    )


def test_ultraserver_nodes_need_capacity_blocks(cloud: Any) -> None:
    ultra = {"instanceTypes": ["p6e-gb200.36xlarge"]}
    refused(cloud, "available in Capacity Blocks for UltraServers only", GROUP, **group(**ultra))


def efa_template(cloud: Any, count: int, **more: Any) -> dict[str, str]:
    cards = [
        {
            "networkCardIndex": card,
            "deviceIndex": 1 if card else 0,
            "interfaceType": "efa-only" if card else "efa",
        }
        for card in range(count)
    ]
    return {
        "id": cloud.create(TEMPLATE, name=f"efa{count}", networkInterfaces=cards, **more)["id"],
        "version": "1",
    }


def test_row_27_a_machine_has_a_limit_of_efa_interfaces(cloud: Any) -> None:
    inputs = group(instanceTypes=["p4d.24xlarge"])
    refused(
        cloud, r"p4d\.24xlarge supports 4", GROUP, **inputs, launchTemplate=efa_template(cloud, 5)
    )
    cloud.create(GROUP, **inputs, launchTemplate=efa_template(cloud, 4))


def test_row_32_nodes_need_the_cni_addon(cloud: Any) -> None:
    cloud.create(CLUSTER, **cluster(bootstrapSelfManagedAddons=False))
    refused(cloud, "cni plugin not initialized", GROUP, **group())
    cloud.create(
        GROUP,
        **group(
            nodeGroupName="empty", scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 1}
        ),
    )
    cloud.create(ADDON, clusterName="main", addonName="vpc-cni")
    cloud.create(GROUP, **group())


def test_rows_38_and_39_a_cluster_needs_two_zones_and_keeps_them(cloud: Any) -> None:
    a, other_a, b, c = subnets(cloud, "a", "a", "b", "c")
    refused(
        cloud,
        "in at least two different AZs",
        CLUSTER,
        **cluster(vpcConfig={"subnetIds": [a, other_a]}),
    )
    made = cloud.create(CLUSTER, **cluster(vpcConfig={"subnetIds": [a, b]}))
    with pytest.raises(grpc.RpcError, match="zones of the cluster, eu-west-1a, eu-west-1b"):
        cloud.update(CLUSTER, made, **cluster(vpcConfig={"subnetIds": [a, b, c]}))
    cloud.update(CLUSTER, made, **cluster(vpcConfig={"subnetIds": [other_a, b]}))


def test_row_47_an_addon_matches_the_clusters_minor_version(cloud: Any) -> None:
    cloud.create(CLUSTER, **cluster())
    proxy = {"clusterName": "main", "addonName": "kube-proxy"}
    refused(
        cloud,
        "Addon version specified is not supported",
        ADDON,
        **proxy,
        addonVersion="v1.35.0-eksbuild.1",
    )
    refused(
        cloud,
        "Addon version specified is not supported",
        ADDON,
        **proxy,
        addonVersion="v1.33.0-eksbuild.1",
    )
    cloud.create(ADDON, **proxy, addonVersion="v1.34.0-eksbuild.1")
    assert (
        cloud.create(ADDON, **proxy)["addonVersion"] == "v1.34.0-eksbuild.1"
    )  # the default is the control plane's version


@pytest.mark.parametrize("kind", ["subnetId", "securityGroups"])
def test_row_52_external_interfaces_block_the_deletion_of_a_network(cloud: Any, kind: str) -> None:
    """Load balancers and pods own them; they are deleted with their owner."""
    token = SUBNET if kind == "subnetId" else "aws:ec2/securityGroup:SecurityGroup"
    made = cloud.create(
        token, vpcId="vpc-1", **({"cidrBlock": "10.0.0.0/24"} if token == SUBNET else {})
    )
    left = {"subnetId": made["id"] if kind == "subnetId" else "subnet-9"}
    left |= {"securityGroups": [made["id"]]} if kind == "securityGroups" else {}
    interface = cloud.create("aws:ec2/networkInterface:NetworkInterface", **left)
    with pytest.raises(grpc.RpcError, match="DependencyViolation"):
        cloud.delete(token, made)
    cloud.delete("aws:ec2/networkInterface:NetworkInterface", interface)
    cloud.delete(token, made)


def test_row_52_load_balancers_of_services_block_the_deletion_of_a_vpc(
    cloud: Any, memory: Memory
) -> None:
    vpc = cloud.create("aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16")
    subnet = cloud.create(SUBNET, vpcId=vpc["id"], cidrBlock="10.0.0.0/24")
    gateway = cloud.create("aws:ec2/internetGateway:InternetGateway", vpcId=vpc["id"])
    public = {"subnets": [subnet["id"]], "vpcId": vpc["id"], "internal": False}
    memory.put(BALANCER, "k8s-web", public)
    for token, made, message in (
        (SUBNET, subnet, "The subnet '.*' has dependencies and cannot be deleted"),
        ("aws:ec2/internetGateway:InternetGateway", gateway, "some mapped public address"),
    ):
        with pytest.raises(grpc.RpcError, match=message):
            cloud.delete(token, made)
    memory.put(BALANCER, "k8s-web", {**public, "internal": True})
    cloud.delete("aws:ec2/internetGateway:InternetGateway", gateway)
    memory.drop(BALANCER, "k8s-web")
    cloud.delete(SUBNET, subnet)
    group = cloud.create("aws:ec2/securityGroup:SecurityGroup", vpcId=vpc["id"], name="k8s-elb-1")
    with pytest.raises(grpc.RpcError, match=r"The vpc '.*' has dependencies and cannot be deleted"):
        cloud.delete("aws:ec2/vpc:Vpc", vpc)
    cloud.delete("aws:ec2/securityGroup:SecurityGroup", group)
    cloud.delete("aws:ec2/vpc:Vpc", vpc)


PERCENTAGE = {"maxUnhealthyNodeThresholdCount": 1, "maxUnhealthyNodeThresholdPercentage": 20}
OVERRIDE = {"nodeMonitoringCondition": "AcceleratedHardwareReady", "repairAction": "Replace"}
PLAIN = base64.b64encode(b"#!/bin/sh\necho hello\n").decode()
LONG = base64.b64encode(b"MIME-Version: 1.0\n\n" + b"#" * 16_384).decode()
TOML = base64.b64encode(b'[settings.kernel]\nlockdown = "integrity"\n').decode()
AT_ONCE: dict[str, tuple[str, dict[str, Any], str]] = {
    "row 8: a bare script": (TEMPLATE, {"userData": PLAIN}, "not in the MIME multipart format"),
    "row 8: no base64": (TEMPLATE, {"userData": "#!/bin/sh"}, "Invalid BASE64"),
    "row 8: Bottlerocket's settings": (TEMPLATE, {"userData": TOML}, ""),
    "row 8: an image of one's own": (TEMPLATE, {"userData": PLAIN, "imageId": "ami-1"}, ""),
    "row 8: more than EC2 takes": (TEMPLATE, {"userData": LONG}, "limited to 16384 bytes"),
    "row 34: two thresholds": (GROUP, group(nodeRepairConfig=PERCENTAGE), "exclude each other"),
    "row 34: half an override": (
        GROUP,
        group(nodeRepairConfig={"nodeRepairConfigOverrides": [OVERRIDE]}),
        "needs minRepairWaitTimeMins, nodeUnhealthyReason",
    ),
    "row 41: a version of the future": (
        CLUSTER,
        cluster(version="1.99"),
        "unsupported Kubernetes version",
    ),
    "row 47: no version of an add-on": (
        ADDON,
        {"clusterName": "main", "addonName": "vpc-cni", "addonVersion": "1.20"},
        "Addon version specified is not supported",
    ),
    "row 48: no add-on": (
        ADDON,
        {"clusterName": "main", "addonName": "vpc-nic"},
        "Addon specified is not supported",
    ),
}


@pytest.mark.parametrize(("token", "inputs", "reason"), AT_ONCE.values(), ids=AT_ONCE)
def test_invalid_inputs_are_rejected_in_a_preview(
    cloud: Any, token: str, inputs: dict[str, Any], reason: str
) -> None:
    found = cloud.check_error(token, inputs)
    assert reason in found
    assert reason or not found or "missing required" in found


def test_a_service_account_has_only_one_association(cloud: Any) -> None:
    token = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    account = {
        "clusterName": "main",
        "namespace": "kube-system",
        "roleArn": "arn:aws:iam::123456789012:role/scaler",
    }
    made = cloud.create(token, **account, serviceAccount="cluster-autoscaler")
    with pytest.raises(grpc.RpcError, match=f"Association already exists: {made['id']}"):
        cloud.create(token, **account, serviceAccount="cluster-autoscaler")
    cloud.create(token, **account, serviceAccount="another")


def test_access_entries_need_a_mode_that_cannot_be_reverted(cloud: Any) -> None:
    entry = {"clusterName": "main", "principalArn": "arn:aws:iam::123456789012:role/admin"}
    made = cloud.create(CLUSTER, **cluster(accessConfig={"authenticationMode": "CONFIG_MAP"}))
    with pytest.raises(grpc.RpcError, match=r"must be set to one of \[API, API_AND_CONFIG_MAP\]"):
        cloud.create("aws:eks/accessEntry:AccessEntry", **entry)
    for now, mode in (("CONFIG_MAP", "API"), ("API", "API_AND_CONFIG_MAP")):
        with pytest.raises(
            grpc.RpcError, match=f"Unsupported authentication mode update from {now} to {mode}"
        ):
            cloud.update(CLUSTER, made, **cluster(accessConfig={"authenticationMode": mode}))
        for step in ("API_AND_CONFIG_MAP", "API") if now == "CONFIG_MAP" else ():
            made |= cloud.update(
                CLUSTER, made, **cluster(accessConfig={"authenticationMode": step})
            )
    cloud.create("aws:eks/accessEntry:AccessEntry", **entry)


ENTRY, CREATOR = "aws:eks/accessEntry:AccessEntry", "arn:aws:iam::123456789012:user/sandbox"


@pytest.mark.parametrize("first", ["CONFIG_MAP", "API_AND_CONFIG_MAP"])
def test_the_creator_of_a_cluster_has_an_access_entry(
    cloud: Any, memory: Memory, first: str
) -> None:
    """The entry exists from the first mode with access entries until the cluster is deleted."""
    made = cloud.create(CLUSTER, **cluster(accessConfig={"authenticationMode": first}))
    assert (memory.all(ENTRY) == {}) is (first == "CONFIG_MAP")
    made |= cloud.update(
        CLUSTER, made, **cluster(accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"})
    )
    refused(
        cloud, "already in use on this cluster", ENTRY, clusterName="main", principalArn=CREATOR
    )
    cloud.delete(CLUSTER, made)
    assert memory.all(ENTRY) == {}
    access = {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}
    cloud.create(CLUSTER, **cluster(accessConfig=access))
    cloud.create(ENTRY, clusterName="main", principalArn=CREATOR)


def test_the_log_group_of_a_cluster_outlives_the_cluster(cloud: Any) -> None:
    """A log group that already exists is used."""
    group, logs = "aws:cloudwatch/logGroup:LogGroup", {"enabledClusterLogTypes": ["audit"]}
    cloud.create(group, name="/aws/eks/own/cluster")
    cloud.create(CLUSTER, **cluster(name="own", **logs))
    made = cloud.create(CLUSTER, **cluster(**logs))
    cloud.create(CLUSTER, **cluster(name="silent"))
    for _ in range(2):
        refused(cloud, "ResourceAlreadyExistsException", group, name="/aws/eks/main/cluster")
        cloud.delete(CLUSTER, made)
    cloud.create(group, name="/aws/eks/silent/cluster")


def test_row_30_a_zone_outage_prevents_new_nodes(cloud: Any, memory: Memory) -> None:
    both = subnets(cloud, "a", "b")
    old = cloud.create(GROUP, **group(subnetIds=both, instanceTypes=["g6.2xlarge"]))
    alone = cloud.create(
        GROUP, **group(nodeGroupName="alone", subnetIds=both[:1], instanceTypes=["g6.2xlarge"])
    )
    memory.put(LOST_ZONE, "eu-west-1a", {})
    more = {"minSize": 0, "desiredSize": 2, "maxSize": 4}
    cloud.update(GROUP, old, **group(subnetIds=both, scalingConfig=more))
    with pytest.raises(
        grpc.RpcError,
        match=r"not have sufficient .* capacity in the Availability Zone .*eu-west-1a",
    ):
        cloud.update(
            GROUP, alone, **group(nodeGroupName="alone", subnetIds=both[:1], scalingConfig=more)
        )
    with pytest.raises(grpc.RpcError, match="or choosing eu-west-1b"):
        cloud.create(GROUP, **group(nodeGroupName="new", subnetIds=both))
    cloud.create(GROUP, **group(nodeGroupName="new", subnetIds=both[1:]))
    none = {"minSize": 0, "desiredSize": 0, "maxSize": 4}
    cloud.create(GROUP, **group(nodeGroupName="empty", subnetIds=both, scalingConfig=none))


def test_row_36_tags_of_a_group_are_not_inherited(cloud: Any, memory: Memory) -> None:
    """Only tags of its template reach instances that start with a template version that has
    them.
    """
    tags = [
        {"resourceType": "instance", "tags": {"team": "a"}},
        {"resourceType": "volume", "tags": {"disk": "a"}},
    ]
    template = cloud.create(TEMPLATE, name="t", instanceType="g6.2xlarge", tagSpecifications=tags)
    inputs = {
        "clusterName": "main",
        "nodeGroupName": "gpu",
        "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
        "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
        "launchTemplate": {"id": template["id"], "version": "1"},
        "tags": {"cost": "a"},
    }
    made = cloud.create(GROUP, **inputs)
    own = {"eks:cluster-name": "main", "eks:nodegroup-name": "gpu"}
    assert list(memory.all(TAGGED).values()) == [{"tags": own, "instanceTags": {"team": "a"}}]
    later = [{"resourceType": "instance", "tags": {"team": "b"}}]
    cloud.update(TEMPLATE, template, name="t", instanceType="g6.2xlarge", tagSpecifications=later)
    made = {**cloud.update(GROUP, made, **{**inputs, "tags": {"cost": "b"}}), "id": made["id"]}
    assert list(memory.all(TAGGED).values()) == [{"tags": own, "instanceTags": {"team": "a"}}]
    cloud.update(
        GROUP, made, **{**inputs, "launchTemplate": {"id": template["id"], "version": "2"}}
    )
    assert list(memory.all(TAGGED).values()) == [{"tags": own, "instanceTags": {"team": "b"}}]
    cloud.delete(GROUP, made)
    assert memory.all(TAGGED) == {}
