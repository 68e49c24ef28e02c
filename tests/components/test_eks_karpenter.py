"""Karpenter on EKS: its release, queue, permissions, and pools, and when a platform installs it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pulumi
import pytest
import yaml

from dra_planner.catalog import machine
from dra_planner.clouds import AllocatableSettings
from dra_planner.clouds.eks.addresses import max_pods
from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from dra_planner.releases import RELEASES as KUBERNETES
from dra_sandbox.clouds.kubernetes.karpenter import check_karpenter
from pulumi_dra.eks import EksKarpenter, EksKarpenterPool
from pulumi_dra.eks.karpenter.controller_inputs import OLDEST, VERSION
from pulumi_dra.eks.karpenter.spot_role import NoSpotRole, require_spot_role
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform

POOL, CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
NODES = "arn:aws:iam::111122223333:role/nodes"
NEEDED: dict[str, Any] = {
    "cluster_name": "dev",
    "cluster_endpoint": "https://api.example",
    "kubernetes_version": "1.34",
    "node_role_arn": NODES,
}
OF_A_POOL: dict[str, Any] = {
    "instance_profile_name": "nodes",
    "subnet_ids": ["subnet-a"],
    "cluster_security_group_id": "sg-cluster",
    "machine": "p5.48xlarge",
    "nodes": 2,
    "max_nodes": 3,
    "zone": "us-east-1a",
    "pool_name": "h100",
}
FLEET = """
cloud: eks
region: us-east-1
kubernetes: "1.35"
autoscaler: karpenter
network: {zones: [us-east-1a, us-east-1b]}
endpoint: {publicAccessCidrs: [198.51.100.7/32]}
systemPool: {machine: m7i.large, count: 2}
drivers: {nvidia: {version: 25.8.1}}
pools:
  - {name: l4, machine: g6.2xlarge, count: {min: 2, max: 4}, zones: [us-east-1b], labels: {example.com/team: vision}}
  - {name: a100, machine: p4d.24xlarge, count: 1, zones: [us-east-1a], capacity: {reservation: cr-0123456789abcdef0}}
"""


@pytest.fixture
def karpenter(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: EksKarpenter("starter", {**NEEDED, **args}))


@pytest.fixture
def pool(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: EksKarpenterPool("big", {**OF_A_POOL, **args}))


@pytest.fixture
def platform(declare: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the platform of a fleet with these inputs in addition to its plan."""

    def make(text: str = FLEET, **args: Any) -> Any:
        plan = canonical_text(
            plan_file(make_plan(PlanRequest(sources=(), fleet=read_fleet(yaml.safe_load(text)))))
        )
        return declare(lambda: DraPlatform("dra", {"plan": plan, **args}))

    return make


def node_pool(declared: Any, name: str = "") -> dict[str, Any]:
    """Return the spec of the only NodePool, which the API server would accept."""
    found = declared.one("NodePool", name)
    assert list(check_karpenter(POOL, dict(found.inputs), {})) == []
    spec: dict[str, Any] = found.inputs["spec"]
    return spec


def node_class(declared: Any, name: str = "") -> dict[str, Any]:
    """Return the spec of the only EC2NodeClass, which the API server would accept."""
    found = declared.one("EC2NodeClass", name)
    assert list(check_karpenter(CLASS, dict(found.inputs), {})) == []
    spec: dict[str, Any] = found.inputs["spec"]
    return spec


def allowed(declared: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield every action of the role's policy with its resources and conditions."""
    for statement in json.loads(declared.one("RolePolicy").inputs["policy"])["Statement"]:
        for action in statement["Action"]:
            yield action, statement["Resource"], statement.get("Condition")


# The controller


def test_definitions_are_a_release_that_is_installed_first(karpenter: Any) -> None:
    declared = karpenter()
    first, release = (
        declared.one("Release", "starter-crd-release"),
        declared.one("Release", "starter-release"),
    )
    assert (first.inputs["chart"], first.inputs["version"]) == (
        "oci://public.ecr.aws/karpenter/karpenter-crd",
        VERSION,
    )
    assert (release.inputs["chart"], release.inputs["version"]) == (
        "oci://public.ecr.aws/karpenter/karpenter",
        VERSION,
    )
    assert release.inputs["skipCrds"] is True
    assert any("starter-crd-release" in each for each in release.depends_on)


def test_settings_name_the_cluster_and_enable_static_pools(karpenter: Any) -> None:
    values = karpenter(replicas=1).one("Release", "starter-release").inputs["values"]
    settings = values["settings"]
    assert (settings["clusterName"], settings["clusterEndpoint"]) == ("dev", "https://api.example")
    assert settings["featureGates"] == {"staticCapacity": True}
    assert settings["interruptionQueue"], "interruptions are heard of"
    assert values["controller"]["env"] == [{"name": "AWS_REGION", "value": "us-east-1"}]
    assert values["replicas"] == 1


def test_karpenter_starts_after_its_interruption_queue_gets_events(karpenter: Any) -> None:
    declared = karpenter()
    kinds = {
        json.loads(each.inputs["eventPattern"])["detail-type"][0]
        for each in declared.all("EventRule")
    }
    assert len(kinds) == len(declared.all("EventTarget")) == 5
    assert "EC2 Spot Instance Interruption Warning" in kinds
    assert "EC2 Capacity Reservation Instance Interruption Warning" in kinds
    queue = declared.one("Queue")
    assert queue.inputs["sqsManagedSseEnabled"] is True
    sends, plain = json.loads(declared.one("QueuePolicy").inputs["policy"])["Statement"]
    assert sends["Principal"] == {"Service": ["events.amazonaws.com"]}
    assert plain["Effect"] == "Deny"
    waits = " ".join(declared.one("Release", "starter-release").depends_on)
    for part in ("starter-spot", "starter-interruptions", "starter-identity", "starter-nodes"):
        assert part in waits


def test_karpenter_cannot_change_other_clusters_or_create_identities(karpenter: Any) -> None:
    declared = karpenter(permissions_boundary_arn="arn:aws:iam::111122223333:policy/most")
    for action, resources, condition in allowed(declared):
        service, _, name = action.partition(":")
        if name.startswith(("Describe", "Get", "List")) or service == "sqs":
            continue
        given = any(f":{kind}/" in each for each in resources for kind in ("image", "subnet"))
        if action == "iam:PassRole":
            assert resources == [NODES]
        elif given:
            assert action in ("ec2:RunInstances", "ec2:CreateFleet")
        else:
            assert any(
                key.endswith("kubernetes.io/cluster/dev") for key in condition["StringEquals"]
            ), action
    assert not [
        each for each, _, _ in allowed(declared) if "Create" in each and each.startswith("iam:")
    ]
    assert declared.one("Role").inputs["permissionsBoundary"].endswith("policy/most")
    assert declared.one("InstanceProfile").inputs["role"] == "nodes"
    identity = declared.one("PodIdentityAssociation").inputs
    assert (identity["namespace"], identity["serviceAccount"]) == ("kube-system", "karpenter")


def test_account_without_a_spot_role_gets_the_command_to_run() -> None:
    with pytest.raises(
        NoSpotRole,
        match=r"create-service-linked-role --aws-service-name spot\.amazonaws\.com` once",
    ):
        require_spot_role([])


def test_permissions_on_volume_keys_are_limited_to_these_keys(karpenter: Any) -> None:
    assert not [each for each, _, _ in allowed(karpenter()) if each.startswith("kms:")]
    key = "arn:aws:kms:us-east-1:111122223333:key/volumes"
    uses = {
        each: resources
        for each, resources, _ in allowed(karpenter(volume_key_arns=[key]))
        if "kms:" in each
    }
    assert "kms:CreateGrant" in uses
    assert all(resources == [key] for resources in uses.values())


def test_aws_resources_outlive_the_cluster(declare: Callable[..., Any]) -> None:
    def make() -> None:
        cluster = pulumi.ComponentResource("test:index:Cluster", "cluster")
        EksKarpenter("starter", NEEDED, pulumi.ResourceOptions(deleted_with=cluster))  # type: ignore[arg-type]  # as a TypedDict

    declared = declare(make)
    assert all(each.deleted_with for each in declared.all("Release"))
    for kind in (
        "Role",
        "RolePolicy",
        "InstanceProfile",
        "Queue",
        "QueuePolicy",
        "EventRule",
        "EventTarget",
    ):
        assert {each.deleted_with for each in declared.all(kind)} == {""}, kind


@pytest.mark.parametrize("kubernetes", [each.version for each in KUBERNETES.values()])
def test_versions_that_are_too_old_for_a_cluster_are_rejected(
    karpenter: Any, kubernetes: str
) -> None:
    if kubernetes not in OLDEST:
        with pytest.raises(
            WrongInputs,
            match=f"no Karpenter version for Kubernetes {kubernetes} is known; set a version",
        ):
            karpenter(kubernetes_version=kubernetes)
        assert karpenter(kubernetes_version=kubernetes, version="9.0.0").all("Release")
        return
    assert karpenter(kubernetes_version=kubernetes).all("Release")
    with pytest.raises(WrongInputs, match=rf"1\.7\.1 is too old for Kubernetes {kubernetes}"):
        karpenter(kubernetes_version=kubernetes, version="1.7.1")


def test_custom_charts_and_images_are_used(karpenter: Any) -> None:
    own = {
        "chart": "./karpenter",
        "crd_chart": "./karpenter-crd",
        "image_repository": "registry.example/karpenter",
    }
    declared = karpenter(**own, image_pull_secrets=["mirror"])
    release = declared.one("Release", "starter-release").inputs
    assert (release["chart"], "version" in release) == ("./karpenter", False)
    assert declared.one("Release", "starter-crd-release").inputs["chart"] == "./karpenter-crd"
    assert release["values"]["controller"]["image"] == {"repository": "registry.example/karpenter"}
    assert release["values"]["imagePullSecrets"] == [{"name": "mirror"}]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no version": ({"version": "latest"}, '"latest" is not a version such as'),
    "a number": ({"version": 1.14}, "version: must be a string"),
    "no pods": ({"replicas": 0}, "replicas: must be between 1 and 5, not 0"),
    "a list for a count": ({"replicas": [2]}, "replicas: must be an integer"),
    "a policy for a role": (
        {"node_role_arn": "arn:aws:iam::1:policy/a"},
        "is not the ARN of a role",
    ),
    "text for a list": ({"volume_key_arns": "arn"}, "volume_key_arns: must be a list"),
    "a tag in the image": ({"image_repository": "a/b:v1"}, "must not have a tag"),
    "no cluster": ({"cluster_name": ""}, "cluster_name: must be a string or an output"),
}


@pytest.mark.parametrize(("args", "reason"), WRONG.values(), ids=WRONG)
def test_wrong_inputs_are_rejected(karpenter: Any, args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs) as caught:
        karpenter(**args)
    assert reason in str(caught.value)


# Its pools


def test_pool_is_static_with_one_machine_type_and_zone(pool: Any) -> None:
    spec = node_pool(pool())
    assert (spec["replicas"], spec["limits"]) == (2, {"nodes": 3})
    required = {each["key"]: each["values"] for each in spec["template"]["spec"]["requirements"]}
    assert required == {
        "node.kubernetes.io/instance-type": ["p5.48xlarge"],
        "karpenter.sh/capacity-type": ["on-demand"],
        "topology.kubernetes.io/zone": ["us-east-1a"],
    }
    labels = spec["template"]["metadata"]["labels"]
    assert labels == {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "h100",
    }
    assert spec["template"]["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    ]


def test_nodes_are_replaced_only_by_changes_one_at_a_time(pool: Any) -> None:
    spec = node_pool(pool())
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert spec["disruption"] == {"consolidateAfter": "Never", "budgets": [{"nodes": "1"}]}
    assert node_pool(pool(max_unavailable=0))["disruption"]["budgets"] == [{"nodes": "0"}]


def test_nodes_have_the_same_settings_as_managed_node_groups(pool: Any) -> None:
    spec = node_class(pool())
    assert spec["amiSelectorTerms"] == [{"alias": "al2023@v20260917"}]
    assert spec["metadataOptions"]["httpTokens"] == "required"
    assert spec["metadataOptions"]["httpPutResponseHopLimit"] == 1
    (disk,) = spec["blockDeviceMappings"]
    assert disk["ebs"]["encrypted"] is True
    assert disk["ebs"]["volumeSize"] == "200Gi"
    assert spec["subnetSelectorTerms"] == [{"id": "subnet-a"}]
    assert spec["securityGroupSelectorTerms"] == [{"id": "sg-cluster"}]
    assert not {"userData", "kubelet", "networkInterfaces", "instanceStorePolicy"} & spec.keys()


def test_image_version_key_and_reserved_resources_are_set(pool: Any) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/volumes"
    spec = node_class(
        pool(
            release_version="1.34.2-20260115",
            disk_kms_key=key,
            reserved_cpu="500m",
            max_pods=110,
            disk_gib=300,
            disk_iops=6000,
            disk_throughput=1000,
        )
    )
    assert spec["amiSelectorTerms"] == [{"alias": "al2023@v20260115"}]
    volume = spec["blockDeviceMappings"][0]["ebs"]
    assert (volume["kmsKeyID"], volume["iops"], volume["throughput"]) == (key, 6000, 1000)
    assert spec["kubelet"] == {"maxPods": 110, "systemReserved": {"cpu": "500m"}}


@pytest.mark.parametrize(
    ("capacity", "capacity_type"),
    [
        ("on-demand", "on-demand"),
        ("spot", "spot"),
        ("reservation", "reserved"),
        ("capacity-block", "reserved"),
    ],
)
def test_capacity_type_is_set(pool: Any, capacity: str, capacity_type: str) -> None:
    bought = {"reservation_id": "cr-0123456789abcdef0"} if capacity_type == "reserved" else {}
    declared = pool(capacity=capacity, **bought)
    required = {
        each["key"]: each["values"]
        for each in node_pool(declared)["template"]["spec"]["requirements"]
    }
    assert required["karpenter.sh/capacity-type"] == [capacity_type]
    terms = node_class(declared).get("capacityReservationSelectorTerms")
    assert terms == ([{"id": "cr-0123456789abcdef0"}] if bought else None)


@pytest.mark.parametrize(
    ("name", "cards", "efa"), [("p5.48xlarge", 32, 32), ("p6-b300.48xlarge", 17, 16)]
)
def test_every_card_has_efa_and_one_interface_has_ip(
    pool: Any, name: str, cards: int, efa: int
) -> None:
    declared = pool(machine=name, efa=True, vpc_id="vpc-1")
    spec = node_class(declared)
    found = spec["networkInterfaces"]
    assert [each["interfaceType"] for each in found].count("interface") == 1
    assert len([each for each in found if each["interfaceType"] == "efa-only"]) == efa
    assert {each["networkCardIndex"] for each in found} == set(range(cards))
    group = declared.one("SecurityGroup").inputs
    assert group["egress"][0]["self"] is True
    assert len(spec["securityGroupSelectorTerms"]) == 2


def test_mig_configuration_and_boot_script_are_plain_user_data(pool: Any) -> None:
    spec = node_class(pool(mig_layout="all-1g.10gb", boot_script="#!/bin/bash\necho ready"))
    assert spec["userData"].startswith("Content-Type: multipart/mixed")
    assert "echo ready" in spec["userData"]
    assert "mig-layout" in spec["userData"] or "nvidia-smi" in spec["userData"]


def test_local_disks_and_placement_groups_are_set(pool: Any) -> None:
    assert node_class(pool(local_storage="raid0"))["instanceStorePolicy"] == "RAID0"
    assert "strategy: Mount" in node_class(pool(local_storage="mount"))["userData"]
    assert node_class(pool(placement_group=True))["placementGroupSelector"] == {
        "name": "big-placement"
    }


WRONG_POOLS: dict[str, tuple[dict[str, Any], str]] = {
    "more nodes than the maximum": ({"nodes": 4}, "nodes: 4 is more than max_nodes (3)"),
    "an invalid object name": (
        {"pool_name": "H_100"},
        "isn't a valid NodePool name; use lowercase",
    ),
    "an unknown zone": ({"zone": "europe"}, "zone: "),
    "a reservation without its id": ({"capacity": "reservation"}, "reservation_id: "),
    "an unknown image version": ({"release_version": "latest"}, "is not an image release"),
    "EFA without a network": ({"efa": True}, "vpc_id: is required"),
    "a script without a first line": (
        {"boot_script": "echo"},
        "must start with an interpreter line",
    ),
    "text for a count": ({"nodes": "two"}, "nodes: must be an integer"),
    "a MIG configuration that doesn't fit": ({"mig_layout": "all-9g.99gb"}, "mig_layout: "),
    "a schedule": ({"schedule": {}}, "schedule: isn't an input"),
}


@pytest.mark.parametrize(("args", "reason"), WRONG_POOLS.values(), ids=WRONG_POOLS)
def test_wrong_pool_inputs_are_rejected(pool: Any, args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs) as caught:
        pool(**args)
    assert reason in str(caught.value)


# A platform


def test_platform_has_karpenter_and_a_pool_per_planned_pool(platform: Any) -> None:
    declared = platform()
    assert [each.name for each in declared.all("NodeGroup")] == ["dra-cluster-system"], (
        "GPU pools are Karpenter's"
    )
    assert declared.one("Release", "dra-karpenter-release").inputs["version"] == VERSION
    spec = node_pool(declared, "dra-l4-pool")
    assert (spec["replicas"], spec["limits"]) == (2, {"nodes": 4})
    assert spec["template"]["metadata"]["labels"]["example.com/team"] == "vision"
    required = {each["key"]: each["values"] for each in spec["template"]["spec"]["requirements"]}
    assert required["topology.kubernetes.io/zone"] == ["us-east-1b"]
    assert node_class(declared, "dra-a100-class")["capacityReservationSelectorTerms"] == [
        {"id": "cr-0123456789abcdef0"}
    ]


def test_nodes_allow_the_planned_number_of_pods(platform: Any) -> None:
    wanted = max_pods(machine("eks", "g6.2xlarge"), AllocatableSettings())[0]
    assert node_class(platform(), "dra-l4-class")["kubelet"]["maxPods"] == wanted


def test_pools_are_deleted_before_karpenter_and_the_cluster(
    platform: Any,
) -> None:
    declared = platform()
    release = declared.one("Release", "dra-karpenter-release")
    assert release.deleted_with
    for kind in ("NodePool", "EC2NodeClass"):
        for each in declared.all(kind):
            assert not each.deleted_with, "its machines would run on"
            assert any("dra-karpenter-release" in waits for waits in each.depends_on), (
                "it is deleted before Karpenter"
            )


def test_karpenter_may_use_the_pools_keys(platform: Any) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/volumes"
    declared = platform(pools=[{"name": "l4", "disk_kms_key": key}])
    policy = json.loads(declared.one("RolePolicy", "dra-karpenter-nodes").inputs["policy"])
    assert [
        each["Resource"] for each in policy["Statement"] if "kms:CreateGrant" in each["Action"]
    ] == [[key]]
    assert node_class(declared, "dra-l4-class")["blockDeviceMappings"][0]["ebs"]["kmsKeyID"] == key


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "not installed": (
        {"autoscaler": {"install": False}},
        "autoscaler.install: applies only to the cluster autoscaler",
    ),
    "flags": (
        {"autoscaler": {"flags": {"v": "2"}}},
        "autoscaler.flags: applies only to the cluster autoscaler",
    ),
    "an old release": (
        {"autoscaler": {"version": "1.8.0"}},
        "autoscaler.version: 1.8.0 is too old",
    ),
    "update settings of node groups": (
        {"pools": [{"name": "l4", "update_strategy": "MINIMAL"}]},
        "pools.l4.update_strategy: applies only to managed node groups",
    ),
}


@pytest.mark.parametrize(("args", "reason"), REFUSED.values(), ids=REFUSED)
def test_options_of_managed_node_groups_are_rejected(
    platform: Any, args: dict[str, Any], reason: str
) -> None:
    with pytest.raises(WrongInputs) as caught:
        platform(**args)
    assert reason in str(caught.value)
