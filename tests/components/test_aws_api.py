"""The AWS resources that the components declare, checked with AWS's own model of its API, and
created in a simulated account.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import jmespath
import pytest
from api_names import misspelt
from aws_api import REQUESTS, Operation, RefusedRequest, requests
from moto import mock_aws

from pulumi_dra.eks import EksCluster, EksClusterAutoscaler, EksGpuPool, EksKarpenter


def _bought_pool() -> None:
    EksGpuPool(
        "p5",
        {
            "cluster_name": "dev",
            "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
            "subnet_ids": ["subnet-a"],
            "machine": "p5.48xlarge",
            "max_nodes": 2,
            "efa": True,
            "cluster_security_group_id": "sg-1",
            "vpc_id": "vpc-1",
            "capacity": "capacity-block",
            "reservation_id": "cr-0a1b",
            "mig_layout": "0,1=all-1g.10gb",
            "max_pods": 110,
            "node_repair": True,
            "repair_limits": {
                "unhealthy_count": 2,
                "parallel_percentage": 10,
                "overrides": [
                    {
                        "condition": "Ready",
                        "reason": "KubeletStopped",
                        "wait_minutes": 30,
                        "action": "Replace",
                    }
                ],
            },
            "disk_iops": 16_000,
            "disk_throughput": 2_000,
            "schedule": {
                "period": {"start": "2099-12-01T11:30:00Z", "end": "2099-12-08T11:30:00Z"}
            },
            "disk_kms_key": "arn:aws:kms:us-east-1:111122223333:key/1",
            "taints": [{"key": "team", "value": "vision", "effect": "PreferNoSchedule"}],
            "tags": {"team": "vision"},
        },
    )


def _named_cluster() -> None:
    EksCluster(
        "own",
        {
            "kubernetes_version": "1.34",
            "cluster_name": "own",
            "node_monitoring": True,
            "nat_gateways": False,
            "service_cidr": "172.30.0.0/16",
            "control_plane_tier": "tier-xl",
            "access_entries": [
                {
                    "name": "team",
                    "principal_arn": "arn:aws:iam::111122223333:role/team",
                    "policy": "edit",
                    "namespaces": ["vision"],
                    "kubernetes_groups": ["deployers"],
                }
            ],
        },
    )


def _working_hours() -> None:
    EksGpuPool(
        "l4",
        {
            "cluster_name": "dev",
            "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
            "subnet_ids": ["subnet-a"],
            "machine": "g6.2xlarge",
            "max_nodes": 2,
            "placement_group": True,
            "schedule": {"hours": {"start": "08:00", "end": "18:00", "time_zone": "Europe/Berlin"}},
        },
    )


def _karpenter() -> None:
    EksKarpenter(
        "karpenter",
        {
            "cluster_name": "dev",
            "cluster_endpoint": "https://api.example",
            "kubernetes_version": "1.34",
            "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
            "tags": {"team": "vision"},
        },
    )


def _autoscaler() -> None:
    EksClusterAutoscaler(
        "scaler", {"cluster_name": "dev", "kubernetes_version": "1.34", "tags": {"team": "vision"}}
    )


@pytest.fixture(scope="module")
def declared(declare: Callable[..., Any], stack: Callable[..., Any]) -> list[Any]:
    """Return all AWS resources of the stack eks-dev, and of a pool with every option."""
    makers = (
        stack("eks-dev"),
        _bought_pool,
        _named_cluster,
        _working_hours,
        _autoscaler,
        _karpenter,
    )
    resources = [each for make in makers for each in declare(make).resources]
    return [resource for resource in resources if resource.type.startswith("aws:")]


def test_every_resource_is_a_valid_api_request(declared: list[Any]) -> None:
    assert {resource.type for resource in declared} - REQUESTS.keys() == set()
    sent = [
        operation
        for each in declared
        for operation, _ in requests(each.type, each.name, each.inputs)
    ]
    assert len(sent) >= len(declared) > 40


def test_every_mapping_is_used(declared: list[Any]) -> None:
    assert REQUESTS.keys() - {resource.type for resource in declared} == set()


def test_node_group_request_has_the_api_fields(declared: list[Any]) -> None:
    group = next(
        each for each in declared if each.name == "dra-l4-nodes" and each.type.endswith("NodeGroup")
    )
    ((operation, request),) = requests(group.type, group.name, group.inputs)
    assert operation.name == "CreateNodegroup"
    assert request["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 4}
    assert request["amiType"] == "AL2023_x86_64_NVIDIA"
    assert request["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    ]


GROUP: dict[str, Any] = {
    "clusterName": "dev",
    "nodeRoleArn": "arn:aws:iam::111122223333:role/nodes",
    "subnetIds": ["subnet-a"],
    "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4},
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            {"amiTyp": "AL2023_x86_64_NVIDIA"},
            'Unknown parameter in input: "amiTyp"',
            id="a misspelled field",
        ),
        pytest.param(
            {"scalingConfig": {"minimum": 1}},
            'Unknown parameter in scalingConfig: "minimum"',
            id="inside",
        ),
        pytest.param(
            {"amiType": "AL2023_X86_64_NVIDIA"}, "none of AL2_x86_64", id="a misspelled enum"
        ),
        pytest.param(
            {"taints": [{"key": "a", "effect": "NoSchedule"}]},
            "NO_SCHEDULE",
            id="an enum inside a list",
        ),
        pytest.param(
            {"scalingConfig": {"minSize": "one"}},
            "Invalid type for parameter",
            id="text for a number",
        ),
        pytest.param(
            {"nodeRoleArn": None},
            "Invalid type for parameter nodeRole",
            id="a missing role",
        ),
        pytest.param({"labels": {"k" * 64: "v"}}, "at most 63", id="a label that is too long"),
    ],
)
def test_request_with_unknown_fields_is_rejected(change: Mapping[str, Any], sentence: str) -> None:
    list(requests("aws:eks/nodeGroup:NodeGroup", "l4", GROUP))
    with pytest.raises(RefusedRequest) as refused:
        list(requests("aws:eks/nodeGroup:NodeGroup", "l4", {**GROUP, **change}))
    assert sentence in str(refused.value)


def test_every_misspelled_key_is_rejected(declared: list[Any]) -> None:
    first_of_each = {each.type: each for each in reversed(declared)}.values()
    unnoticed = []
    tried = 0
    for each in first_of_each:
        for changed in misspelt(each.inputs):
            tried += 1
            try:
                list(requests(each.type, each.name, changed))
            except (RefusedRequest, KeyError):
                continue
            unnoticed.append((each.type, changed))
    assert unnoticed == []
    assert tried > 100


class SimulatedAccount:
    """Creates resources with real clients in moto's account, if moto supports the operation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients: dict[str, Any] = {}
        self.calls: list[str] = []

    def __call__(
        self, args: Any, id: str | None, outputs: dict[str, Any]
    ) -> tuple[str | None, dict[str, Any]]:
        with self._lock:
            made: list[str] = []
            for operation, request in (
                requests(args.typ, args.name, args.inputs, made) if args.typ in REQUESTS else ()
            ):
                if not operation.simulated:
                    continue
                response = self._send(operation, request)
                if operation.id:
                    id = str(jmespath.search(operation.id, response))
                    made.append(id)
                outputs |= {
                    name: jmespath.search(path, response)
                    for name, path in operation.outputs.items()
                }
            return id, outputs

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = boto3.client(service, region_name="us-east-1")
        return self._clients[service]

    def _send(self, operation: Operation, request: Mapping[str, Any]) -> Any:
        client = self.client(operation.service)
        self.calls.append(operation.name)
        names = {
            client.meta.method_to_api_mapping[name]: name
            for name in client.meta.method_to_api_mapping
        }
        return getattr(client, names[operation.name])(**request)


def test_stack_is_created_in_a_simulated_account(
    declare: Callable[..., Any], stack: Callable[..., Any]
) -> None:
    account = SimulatedAccount()
    with mock_aws(config={"iam": {"load_aws_managed_policies": True}}):
        declare(stack("eks-dev"), account)
        eks, ec2, iam = (account.client(name) for name in ("eks", "ec2", "iam"))
        (name,) = eks.list_clusters()["clusters"]
        cluster = eks.describe_cluster(name=name)["cluster"]
        assert cluster["version"] == "1.35"
        groups = [
            eks.describe_nodegroup(clusterName=name, nodegroupName=group)["nodegroup"]
            for group in eks.list_nodegroups(clusterName=name)["nodegroups"]
        ]
        templates = ec2.describe_launch_template_versions(Versions=["$Latest"])[
            "LaunchTemplateVersions"
        ]
        subnets = ec2.describe_subnets(SubnetIds=cluster["resourcesVpcConfig"]["subnetIds"])[
            "Subnets"
        ]
        role = groups[0]["nodeRole"].rpartition("/")[2]
        policies = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    assert sorted(group["scalingConfig"]["maxSize"] for group in groups) == [3, 4, 8]
    assert {
        template["LaunchTemplateData"]["MetadataOptions"]["HttpTokens"] for template in templates
    } == {"required"}
    assert {subnet["AvailabilityZone"] for subnet in subnets} == {"us-east-1a", "us-east-1b"}
    assert len({subnet["VpcId"] for subnet in subnets}) == 1
    assert {policy["PolicyName"] for policy in policies} == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
    }
    assert {
        "CreateNatGateway",
        "CreateVpcEndpoint",
        "EnableKeyRotation",
        "CreateOpenIDConnectProvider",
    } <= {*account.calls}
