"""Day-two operations of a platform on EKS: growth, scaling by an autoscaler, and upgrades, with the
resources that each one replaces.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]

NODE_GROUP, CLUSTER = "aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster"
SUBNET, INTERFACE = "aws:ec2/subnet:Subnet", "aws:ec2/networkInterface:NetworkInterface"
VPC, GROUP, VOLUME = (
    "aws:ec2/vpc:Vpc",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:ebs/volume:Volume",
)
NEW_NODE, AMI = "dra-sandbox:aws:NewNode", "ami-0123456789abcdef0"
BALANCER = "aws:lb/loadBalancer:LoadBalancer"


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """Return the stack eks-dev, with one pool that the cluster autoscaler scales, after its first
    `up`.
    """
    stack = journey("eks-dev")

    def autoscaled(fleet: dict[str, Any]) -> None:
        fleet["kubernetes"] = "1.34"
        fleet["autoscaler"], fleet["pools"] = "cluster-autoscaler", fleet["pools"][:1]

    stack.write(nodes=1, change=autoscaled)
    stack.up()
    return stack


def group(stack: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the properties of the pool's node group in the cloud."""
    groups = stack.engine.cloud.all(NODE_GROUP).items()
    return next((name, each) for name, each in groups if each["labels"]["pulumi-dra/pool"] == "l4")


def sizes(stack: Any) -> tuple[int, int, int]:
    scaling = group(stack)[1]["scalingConfig"]
    return scaling["minSize"], scaling["desiredSize"], scaling["maxSize"]


def autoscaler(stack: Any) -> str:
    """Return the image's tag of the autoscaler that is installed."""
    found = next(
        each
        for each in stack.engine.resources(stack.stack)
        if each["urn"].endswith("::dra-autoscaler-release")
    )
    assert found["outputs"]["status"]["status"] == "deployed"
    tag: str = found["inputs"]["values"]["image"]["tag"]
    return tag


def test_growing_plan_is_built_with_an_autoscaler(stack: Any) -> None:
    assert sizes(stack) == (1, 1, 4)
    stack.write(nodes=3)
    assert stack.up() == {"dra-plan": "update", "dra-l4-nodes": "update"}
    assert sizes(stack) == (3, 3, 4)


def test_nodes_of_the_autoscaler_stay_when_the_limits_change(stack: Any) -> None:
    name, now = group(stack)
    scaled = {**now["scalingConfig"], "desiredSize": 4}
    stack.engine.cloud.put(NODE_GROUP, name, {**now, "scalingConfig": scaled})
    stack.write(nodes=2, change=lambda fleet: fleet["pools"][0].update(count={"min": 0, "max": 6}))
    assert stack.up() == {"dra-plan": "update", "dra-l4-nodes": "update"}
    assert sizes(stack) == (2, 4, 6)


def test_minor_versions_are_upgraded_in_sequence_without_replacement(stack: Any) -> None:
    for minor in ("1.35", "1.36"):
        stack.write(nodes=2, change=lambda fleet, minor=minor: fleet.update(kubernetes=minor))
        changed = stack.up()
        assert set(changed.values()) == {"update"}, changed
        assert {
            "dra-plan",
            "dra-cluster-cluster",
            "dra-cluster-system",
            "dra-l4-nodes",
        } <= changed.keys()
        versions = {
            each["version"]
            for kind in (CLUSTER, NODE_GROUP)
            for each in stack.engine.cloud.all(kind).values()
        }
        assert versions == {minor}
        assert autoscaler(stack).startswith(f"v{minor}."), "it is of the cluster's minor"


def test_custom_image_replaces_only_its_pool_and_nodes_join(
    stack: Any,
) -> None:
    image = {"id": AMI, "family": "al2023", "driverRoot": "/"}
    stack.write(nodes=2, change=lambda fleet: fleet["pools"][0].update(image=image))
    assert stack.up() == {"dra-plan": "update", "dra-l4-nodes": "delete-replaced"}
    name, made = group(stack)
    assert made["amiType"] == "CUSTOM"
    node = stack.engine.cloud.get(NEW_NODE, name)
    assert made["labels"].items() <= node["labels"].items()
    assert node["taints"] == ["nvidia.com/gpu=present:NoSchedule"]


def test_new_machine_replaces_only_its_pool_and_creates_nodes_first(stack: Any) -> None:
    stack.write(nodes=2, change=lambda fleet: fleet["pools"][0].update(machine="g6.4xlarge"))
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    replaced = [(step.name, step.op) for step in done.steps if "replace" in step.op]
    assert replaced == [
        ("dra-l4-nodes", op) for op in ("create-replacement", "replace", "delete-replaced")
    ]
    assert {name for name, op in stack.changed(done).items() if op == "update"} <= {
        "dra-plan",
        "dra-l4-template",
    }
    assert [each["instanceTypes"] for each in stack.engine.cloud.all(NODE_GROUP).values()].count(
        ["g6.4xlarge"]
    ) == 1


def test_patched_image_rolls_nodes_within_their_group(stack: Any) -> None:
    stack.write(
        nodes=2, change=lambda fleet: fleet["pools"][0]["image"].update(id=AMI.replace("0", "1"))
    )
    assert set(stack.up().values()) == {"update"}


def test_tenant_resources_block_destroy_until_they_are_deleted(stack: Any) -> None:
    """A pod's interface, and a Service's load balancer with its security group, block the deletion
    of the network; a volume remains and costs money.
    """
    cloud = stack.engine.cloud
    subnet, (vpc,) = next(iter(cloud.all(SUBNET))), cloud.all(VPC)
    in_use = f"The subnet '{subnet}' has dependencies and cannot be deleted"
    # One at a time: the engine stops at the first error. A load balancer keeps its subnet and the
    # gateway of the network, and either may be tried first.
    left = {
        (BALANCER, "k8s-web"): (
            {"subnets": [subnet], "vpcId": vpc},
            f"Network {vpc} has some mapped public address|{in_use}",
        ),
        (INTERFACE, "eni-left"): ({"subnetId": subnet}, in_use),
        (GROUP, "sg-k8s-elb"): (
            {"vpcId": vpc},
            f"The vpc '{vpc}' has dependencies and cannot be deleted",
        ),
    }
    cloud.put(VOLUME, "vol-left", {"size": 100})
    for (token, identifier), (properties, message) in left.items():
        cloud.put(token, identifier, properties)
        stopped = stack.engine.destroy(stack.stack)
        assert not stopped.ok
        assert re.search(message, stopped.output)
        assert cloud.all(NODE_GROUP) == cloud.all(CLUSTER) == {}
        cloud.drop(token, identifier)


def test_destroy_deletes_all_platform_resources(stack: Any) -> None:
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output
    assert stack.engine.resources(stack.stack) == []
    cloud = stack.engine.cloud
    assert cloud.all(NODE_GROUP) == cloud.all(CLUSTER) == cloud.all(VPC) == {}
    assert list(cloud.all(VOLUME)) == ["vol-left"]
