"""An EKS cluster: private, encrypted, logged, with explicit access, and nodes that can join it."""

import json
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pulumi
import pytest

from dra_sandbox.clouds.aws.principals import service_is_called_so
from pulumi_dra.eks import EksCluster
from pulumi_dra.eks.cluster.cluster import AT_CREATION
from pulumi_dra.eks.network.endpoints import service_name
from pulumi_dra.eks.rights.keys import log_groups_policy

NEEDED: dict[str, Any] = {"kubernetes_version": "1.34"}


@pytest.fixture
def cluster(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: EksCluster("dev", {**NEEDED, **args}))


def test_api_server_is_private_by_default(cluster: Any) -> None:
    config = cluster().one("Cluster").inputs["vpcConfig"]
    assert config["endpointPrivateAccess"] is True
    assert config["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in config


def test_only_the_listed_networks_reach_the_api_server(cluster: Any) -> None:
    config = cluster(public_access_cidrs=["203.0.113.0/24"]).one("Cluster").inputs["vpcConfig"]
    assert config["endpointPublicAccess"] is True
    assert config["publicAccessCidrs"] == ["203.0.113.0/24"]
    assert config["endpointPrivateAccess"] is True


def test_secrets_are_encrypted_with_a_rotating_key(cluster: Any) -> None:
    declared = cluster()
    assert declared.one("Key", "dev-secrets").inputs["enableKeyRotation"] is True
    config = declared.one("Cluster").inputs["encryptionConfig"]
    assert config == {
        "provider": {"keyArn": "arn:aws:kms:us-east-1:111122223333:key/dev-secrets"},
        "resources": ["secrets"],
    }


def test_custom_secrets_key_is_used(cluster: Any) -> None:
    declared = cluster(secrets_kms_key="arn:aws:kms:us-east-1:111122223333:key/mine")
    assert [key.name for key in declared.all("Key")] == ["dev-network-flows"]
    assert (
        declared.one("Cluster").inputs["encryptionConfig"]["provider"]["keyArn"].endswith("/mine")
    )


def test_keys_rotate_and_have_a_policy(cluster: Any) -> None:
    declared = cluster()
    policies = {
        key.name: json.loads(key.inputs["policy"])["Statement"] for key in declared.all("Key")
    }
    assert policies.keys() == {"dev-secrets", "dev-network-flows"}
    assert all(key.inputs["enableKeyRotation"] for key in declared.all("Key"))
    root = {"AWS": "arn:aws:iam::111122223333:root"}
    assert {statements[0]["Principal"]["AWS"] for statements in policies.values()} == {root["AWS"]}
    assert len(policies["dev-secrets"]) == 1
    logs = policies["dev-network-flows"][1]
    assert logs["Principal"] == {"Service": "logs.us-east-1.amazonaws.com"}
    assert list(logs["Condition"]["ArnLike"].values()) == ["arn:aws:logs:us-east-1:111122223333:*"]


def test_key_policy_in_china_uses_the_regions_log_service() -> None:
    _, logs = json.loads(log_groups_policy("arn:aws-cn:ec2:cn-north-1:111122223333:vpc/v"))[
        "Statement"
    ]
    assert logs["Principal"] == {"Service": "logs.cn-north-1.amazonaws.com.cn"}


def test_log_group_of_a_named_cluster_is_declared(cluster: Any) -> None:
    declared = cluster(cluster_name="prod", log_retention_days=30)
    made, group = declared.one("Cluster"), declared.one("LogGroup", "dev-logs")
    assert made.inputs["name"] == "prod"
    assert (group.inputs["name"], group.inputs["retentionInDays"]) == ("/aws/eks/prod/cluster", 30)
    assert group.inputs["kmsKeyId"] == "arn:aws:kms:us-east-1:111122223333:key/dev-logs"
    # Created before the cluster writes to it, and deleted after it.
    assert "dev-logs" in made.depends_on
    # Two clusters can't have the same name.
    assert made.delete_before_replace


def test_cluster_with_an_automatic_name_is_created_before_deletion(cluster: Any) -> None:
    made = cluster().one("Cluster")
    assert made.inputs.get("name") is None
    assert not made.delete_before_replace


def test_every_control_plane_log_is_enabled(cluster: Any) -> None:
    assert sorted(cluster().one("Cluster").inputs["enabledClusterLogTypes"]) == [
        "api",
        "audit",
        "authenticator",
        "controllerManager",
        "scheduler",
    ]


def test_creator_gets_an_explicit_access_entry(
    cluster: Any,
) -> None:
    declared = cluster()
    assert declared.one("Cluster").inputs["accessConfig"] == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }
    entry = declared.one("AccessEntry")
    assert entry.inputs["principalArn"] == "arn:aws:iam::111122223333:role/deploy"
    assert entry.ignore_changes == ("principalArn",)


def test_named_admins_replace_the_creator(cluster: Any) -> None:
    admins = ["arn:aws:iam::111122223333:role/a", "arn:aws:iam::111122223333:role/b"]
    declared = cluster(admin_principal_arns=admins)
    assert [entry.inputs["principalArn"] for entry in declared.all("AccessEntry")] == admins
    assert len(declared.all("AccessPolicyAssociation")) == 2


def test_network_has_outbound_access_only_in_every_zone(cluster: Any) -> None:
    declared = cluster(zone_count=3, zones=["us-east-1c"])
    assert len(declared.all("NatGateway")) == 3
    subnets = declared.all("Subnet")
    assert {subnet.inputs["availabilityZone"] for subnet in subnets} == {
        "us-east-1a",
        "us-east-1b",
        "us-east-1c",
    }
    assert not any(subnet.inputs.get("mapPublicIpOnLaunch") for subnet in subnets)
    default = declared.one("DefaultSecurityGroup").inputs
    assert not default.get("ingress")
    assert not default.get("egress")


def places(declared: Any) -> dict[str, tuple[str, str]]:
    """Return the zone and CIDR of every subnet, by its name in the engine."""
    return {
        s.name: (s.inputs["availabilityZone"], s.inputs["cidrBlock"])
        for s in declared.all("Subnet")
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, {"zones": ["us-east-1b"]}, id="one default zone is listed"),
        pytest.param(
            {}, {"zones": ["us-east-1a", "us-east-1b"]}, id="the default zones are listed"
        ),
        pytest.param({}, {"zone_count": 3}, id="one more zone"),
        pytest.param(
            {},
            {"zone_count": 2, "zones": ["us-east-1f"]},
            id="an additional zone is listed next to the count",
        ),
        pytest.param(
            {"zones": ["us-east-1b", "us-east-1c"]},
            {"zones": ["us-east-1a", "us-east-1b", "us-east-1c"]},
            id="an additional zone that sorts first",
        ),
        pytest.param(
            {"zones": ["us-east-1b", "us-east-1c"], "single_nat_gateway": True},
            {"zones": ["us-east-1b", "us-east-1c", "us-east-1a"], "single_nat_gateway": True},
            id="with one NAT gateway",
        ),
    ],
)
def test_growing_a_network_does_not_move_subnets(
    cluster: Any, before: dict[str, Any], after: dict[str, Any]
) -> None:
    old, new = cluster(**before), cluster(**after)
    assert places(old).items() <= places(new).items()
    inputs = {(r.type, r.name): r.inputs for r in new.resources}
    moved = [
        r.name
        for r in old.all("NatGateway")
        if inputs[r.type, r.name]["subnetId"] != r.inputs["subnetId"]
    ]
    assert moved == []


@pytest.mark.parametrize(
    ("args", "zones"),
    [
        pytest.param({}, "ab", id="the first two by default"),
        pytest.param({"zones": ["us-east-1c"]}, "ac", id="one named: EKS needs another"),
        pytest.param({"zones": ["us-east-1f", "us-east-1c"]}, "cf", id="two named: those"),
        pytest.param(
            {"zones": ["us-east-1c"], "zone_count": 3}, "abc", id="listed among the first zones"
        ),
        pytest.param(
            {"zones": ["us-east-1c", "us-east-1f"], "zone_count": 2},
            "abcf",
            id="listed in addition to the first zones",
        ),
    ],
)
def test_network_spans_the_configured_zones(cluster: Any, args: dict[str, Any], zones: str) -> None:
    assert {zone for zone, _ in places(cluster(**args)).values()} == {
        f"us-east-1{letter}" for letter in zones
    }


def test_more_zones_than_the_region_has_are_rejected(cluster: Any) -> None:
    with pytest.raises(
        pulumi.RunError,
        match=r"spans 6 zones, but only us-east-1a, .*us-east-1f are available; set",
    ):
        cluster(zone_count=6)


def test_subnets_of_a_network_do_not_overlap(cluster: Any) -> None:
    blocks = [
        ip_network(block)
        for _, block in places(cluster(zones=[f"us-east-1{z}" for z in "abcdefg"])).values()
    ]
    assert len(blocks) == 14
    assert not any(a.overlaps(b) for i, a in enumerate(blocks) for b in blocks[:i])


def test_cluster_and_system_nodes_keep_their_subnets(cluster: Any) -> None:
    declared = cluster()
    assert declared.one("Cluster").ignore_changes == (*AT_CREATION, "vpcConfig.subnetIds")
    assert declared.one("NodeGroup").ignore_changes == ("subnetIds",)
    given = cluster(subnet_ids=["subnet-a", "subnet-b"])
    assert given.one("Cluster").ignore_changes == AT_CREATION
    assert given.one("NodeGroup").ignore_changes == ()


def test_additional_node_policies_are_attached_before_the_nodes(cluster: Any) -> None:
    policy = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    declared = cluster(node_policy_arns=[policy])
    attachment = declared.one("RolePolicyAttachment", "dev-node-further-0")
    assert attachment.inputs["policyArn"] == policy
    assert attachment.name in " ".join(declared.one("NodeGroup").depends_on)


def test_subnet_tags_apply_to_private_subnets_only(cluster: Any) -> None:
    subnets = cluster(subnet_tags={"karpenter.sh/discovery": "dev"}).all("Subnet")
    for subnet in subnets:
        private = "kubernetes.io/role/internal-elb" in subnet.inputs["tags"]
        assert ("karpenter.sh/discovery" in subnet.inputs["tags"]) == private
    assert len(subnets) == 4


def test_imported_cluster_keeps_its_role(cluster: Any) -> None:
    theirs = "arn:aws:iam::111122223333:role/theirs"
    declared = cluster(
        cluster_role_arn=theirs, secrets_kms_key="arn:aws:kms:us-east-1:111122223333:key/1"
    )
    assert declared.one("Cluster").inputs["roleArn"] == theirs
    assert "dev-cluster" not in [each.name for each in declared.all("Role")]


def test_flow_log_role_has_minimal_permissions(cluster: Any) -> None:
    declared = cluster()
    log = declared.one("FlowLog").inputs
    group_arn = "arn:aws:logs:us-east-1:111122223333:log-group:dev-network-flows"
    assert (log["trafficType"], log["maxAggregationInterval"], log["logDestination"]) == (
        "ALL",
        600,
        group_arn,
    )
    group = declared.one("LogGroup").inputs
    assert (group["retentionInDays"], group["kmsKeyId"]) == (
        365,
        "arn:aws:kms:us-east-1:111122223333:key/dev-network-flows",
    )
    (statement,) = json.loads(declared.one("RolePolicy").inputs["policy"])["Statement"]
    assert statement["Resource"] == [group_arn, f"{group_arn}:*"]
    trust = json.loads(declared.one("Role", "dev-network-flows").inputs["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}
    assert "dev-network-flows" in declared.one("FlowLog").depends_on


def test_single_nat_gateway_can_be_requested(cluster: Any) -> None:
    assert len(cluster(single_nat_gateway=True).all("NatGateway")) == 1


def test_network_without_nat_uses_endpoints_only(cluster: Any) -> None:
    declared = cluster(nat_gateways=False, interface_endpoints=["autoscaling", "ssm"])
    for kind in ("NatGateway", "Eip", "InternetGateway", "Route"):
        assert declared.all(kind) == [], kind
    assert {each.name for each in declared.all("Subnet")} == {
        "dev-network-private-us-east-1a",
        "dev-network-private-us-east-1b",
    }
    inside = {each.inputs["serviceName"]: each for each in declared.all("VpcEndpoint")}
    gateway = inside.pop("com.amazonaws.us-east-1.s3")
    assert gateway.inputs["vpcEndpointType"] == "Gateway"
    assert {name.removeprefix("com.amazonaws.us-east-1.") for name in inside} == {
        "autoscaling",
        "ec2",
        "ecr.api",
        "ecr.dkr",
        "eks",
        "eks-auth",
        "elasticloadbalancing",
        "logs",
        "ssm",
        "sts",
    }
    group = declared.one("SecurityGroup", "dev-network-endpoints")
    (rule,) = group.inputs["ingress"]
    assert (rule["fromPort"], rule["toPort"], rule["cidrBlocks"]) == (443, 443, ["10.0.0.0/16"])
    for endpoint in inside.values():
        assert endpoint.inputs["subnetIds"] == [
            f"dev-network-private-us-east-1{letter}-id" for letter in "ab"
        ]
        assert endpoint.inputs["securityGroupIds"] == ["dev-network-endpoints-id"]
        assert endpoint.inputs["privateDnsEnabled"] is True
        assert endpoint.name in declared.one("NodeGroup").depends_on


@pytest.mark.parametrize(
    ("region", "service", "name"),
    [
        ("us-gov-west-1", "ecr.api", "com.amazonaws.us-gov-west-1.ecr.api"),
        ("cn-north-1", "ecr.api", "cn.com.amazonaws.cn-north-1.ecr.api"),
        ("cn-northwest-1", "sts", "cn.com.amazonaws.cn-northwest-1.sts"),
        ("cn-north-1", "logs", "com.amazonaws.cn-north-1.logs"),
        ("cn-north-1", "elasticloadbalancing", "com.amazonaws.cn-north-1.elasticloadbalancing"),
    ],
)
def test_endpoint_names_differ_in_china(region: str, service: str, name: str) -> None:
    assert service_name(region, service) == name
    assert service_is_called_so({"serviceName": name}) is None


def test_network_with_nat_has_only_the_requested_endpoints(cluster: Any) -> None:
    services = [
        each.inputs["serviceName"]
        for each in cluster(interface_endpoints=["ssm"]).all("VpcEndpoint")
    ]
    assert sorted(services) == ["com.amazonaws.us-east-1.s3", "com.amazonaws.us-east-1.ssm"]
    assert [each for each in cluster().all("SecurityGroup") if "endpoints" in each.name] == []


def test_access_entries_set_policies_and_namespaces(cluster: Any) -> None:
    role = "arn:aws:iam::111122223333:role/"
    declared = cluster(
        access_entries=[
            {"name": "viewers", "principal_arn": f"{role}viewers", "policy": "view"},
            {
                "name": "team",
                "principal_arn": f"{role}team",
                "policy": "edit",
                "namespaces": ["vision", "speech"],
            },
            {"name": "ci", "principal_arn": f"{role}ci", "kubernetes_groups": ["deployers"]},
        ]
    )
    entries = {
        each.name: each.inputs for each in declared.all("AccessEntry") if "-access-" in each.name
    }
    assert {name: each["principalArn"].removeprefix(role) for name, each in entries.items()} == {
        "dev-access-viewers": "viewers",
        "dev-access-team": "team",
        "dev-access-ci": "ci",
    }
    assert entries["dev-access-ci"]["kubernetesGroups"] == ["deployers"]
    policies = {
        each.name: each.inputs
        for each in declared.all("AccessPolicyAssociation")
        if "-access-" in each.name
    }
    assert {
        name: (each["policyArn"].rpartition("/")[2], each["accessScope"])
        for name, each in policies.items()
    } == {
        "dev-access-viewers": ("AmazonEKSViewPolicy", {"type": "cluster"}),
        "dev-access-team": (
            "AmazonEKSEditPolicy",
            {"type": "namespace", "namespaces": ["vision", "speech"]},
        ),
    }


def test_service_range_and_control_plane_tier_are_set(cluster: Any) -> None:
    inputs = (
        cluster(service_cidr="172.30.0.0/16", control_plane_tier="tier-xl").one("Cluster").inputs
    )
    assert inputs["kubernetesNetworkConfig"] == {"serviceIpv4Cidr": "172.30.0.0/16"}
    assert inputs["controlPlaneScalingConfig"] == {"tier": "tier-xl"}
    usual = cluster().one("Cluster").inputs
    assert not {"kubernetesNetworkConfig", "controlPlaneScalingConfig"} & usual.keys()


def test_nodes_use_private_subnets_only(cluster: Any) -> None:
    declared = cluster()
    private = [f"dev-network-private-us-east-1{letter}-id" for letter in "ab"]
    assert declared.one("NodeGroup").inputs["subnetIds"] == private
    assert declared.one("Cluster").inputs["vpcConfig"]["subnetIds"] == private


def test_existing_subnets_are_used_without_a_new_network(declare: Any) -> None:
    def make() -> pulumi.Output[Any]:
        made = EksCluster("dev", {**NEEDED, "subnet_ids": ["subnet-a", "subnet-b"]})  # type: ignore[typeddict-item]  # plain
        return made.subnet_zones.apply(lambda zones: found.extend(zones))

    found: list[str] = []
    declared = declare(make)
    assert declared.all("Vpc") == []
    assert found == ["us-east-1a", "us-east-1b"]


def test_addons_are_managed_and_the_cni_has_its_own_role(cluster: Any) -> None:
    declared = cluster()
    assert declared.one("Cluster").inputs["bootstrapSelfManagedAddons"] is False
    addons = {addon.inputs["addonName"]: addon.inputs for addon in declared.all("Addon")}
    assert sorted(addons) == ["coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"]
    association = addons["vpc-cni"]["podIdentityAssociations"]
    assert association == [
        {"serviceAccount": "aws-node", "roleArn": "arn:aws:iam::111122223333:role/dev-cni"}
    ]
    assert json.loads(addons["vpc-cni"]["configurationValues"]) == {"enableNetworkPolicy": "true"}


def test_prefix_delegation_can_be_enabled(cluster: Any) -> None:
    settings = json.loads(
        cluster(prefix_delegation=True).one("Addon", "dev-vpc-cni").inputs["configurationValues"]
    )
    assert settings["env"] == {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}


def test_node_monitoring_addon_can_be_enabled(cluster: Any) -> None:
    declared = cluster(
        node_monitoring=True, addon_versions={"eks-node-monitoring-agent": "v1.7.0-eksbuild.1"}
    )
    agent = declared.one("Addon", "dev-eks-node-monitoring-agent")
    assert agent.inputs["addonVersion"] == "v1.7.0-eksbuild.1"
    assert "dev-system" in agent.depends_on


DRIVERS = {
    "ebs": ("aws-ebs-csi-driver", "ebs-csi-controller-sa", "service-role/AmazonEBSCSIDriverPolicy"),
    "efs": ("aws-efs-csi-driver", "efs-csi-controller-sa", "service-role/AmazonEFSCSIDriverPolicy"),
    "fsx": ("aws-fsx-csi-driver", "fsx-csi-controller-sa", "AmazonFSxFullAccess"),
}


@pytest.mark.parametrize(("driver", "expected"), DRIVERS.items(), ids=DRIVERS)
def test_storage_driver_is_installed_after_the_nodes_with_its_own_role(
    cluster: Any, driver: str, expected: tuple[str, str, str]
) -> None:
    addon, account, policy = expected
    declared = cluster(
        storage_drivers=[driver], permissions_boundary_arn="arn:aws:iam::111122223333:policy/most"
    )
    made = declared.one("Addon", f"dev-{addon}")
    (association,) = made.inputs["podIdentityAssociations"]
    role = declared.one("Role", f"dev-{addon}")
    assert association["serviceAccount"] == account
    assert association["roleArn"].endswith(f"role/{role.name}")
    assert role.inputs["permissionsBoundary"].endswith("policy/most")
    attached = declared.one("RolePolicyAttachment", f"dev-{addon}-{policy.rpartition('/')[2]}")
    assert attached.inputs["policyArn"] == f"arn:aws:iam::aws:policy/{policy}"
    assert {"dev-system", attached.name} <= made.depends_on
    assert addon not in " ".join(cluster().names())


def test_efs_node_pods_have_their_own_role(cluster: Any) -> None:
    declared = cluster(storage_drivers=["efs"])
    association = declared.one("PodIdentityAssociation", "dev-aws-efs-csi-driver-node").inputs
    assert (association["namespace"], association["serviceAccount"]) == (
        "kube-system",
        "efs-csi-node-sa",
    )
    assert association["roleArn"].endswith("role/dev-aws-efs-csi-driver-node")
    attached = declared.one(
        "RolePolicyAttachment", "dev-aws-efs-csi-driver-node-AmazonElasticFileSystemsUtils"
    )
    assert attached.inputs["policyArn"] == "arn:aws:iam::aws:policy/AmazonElasticFileSystemsUtils"
    # credentials are given to a pod when it starts
    assert (
        "dev-aws-efs-csi-driver-node" in declared.one("Addon", "dev-aws-efs-csi-driver").depends_on
    )


def test_metrics_server_can_be_enabled(cluster: Any) -> None:
    declared = cluster(metrics_server=True, addon_versions={"metrics-server": "v0.8.0-eksbuild.1"})
    assert declared.one("Addon", "dev-metrics-server").inputs["addonVersion"] == "v0.8.0-eksbuild.1"
    assert "dev-metrics-server" not in cluster().names()


def test_addon_settings_are_merged(cluster: Any) -> None:
    given = {
        "coredns": '{"replicaCount": 3}',
        "vpc-cni": '{"env": {"WARM_IP_TARGET": "5"}, "init": {}}',
    }
    declared = cluster(addon_settings=given, prefix_delegation=True)
    settings = {
        each.inputs["addonName"]: each.inputs.get("configurationValues")
        for each in declared.all("Addon")
    }
    assert settings["kube-proxy"] == "{}", "omission would keep the previous settings"
    assert json.loads(settings["coredns"]) == {"replicaCount": 3}
    assert json.loads(settings["vpc-cni"]) == {
        "enableNetworkPolicy": "true",
        "env": {
            "ENABLE_PREFIX_DELEGATION": "true",
            "WARM_IP_TARGET": "5",
            "WARM_PREFIX_TARGET": "1",
        },
        "init": {},
    }


def test_addon_versions_are_pinned_or_most_recent(cluster: Any) -> None:
    declared = cluster(addon_versions={"coredns": "v1.12.1-eksbuild.2", "vpc-cni": "most-recent"})
    versions = {
        addon.inputs["addonName"]: addon.inputs.get("addonVersion")
        for addon in declared.all("Addon")
    }
    assert versions == {
        "coredns": "v1.12.1-eksbuild.2",
        "vpc-cni": "v9.9.9-eksbuild.9",
        "kube-proxy": None,
        "eks-pod-identity-agent": None,
    }


def test_nodes_have_minimal_policies(cluster: Any) -> None:
    attached = {
        a.inputs["policyArn"].rpartition("/")[2] for a in cluster().all("RolePolicyAttachment")
    }
    assert attached == {
        "AmazonEKSClusterPolicy",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKS_CNI_Policy",
    }


def test_nodes_wait_for_cni_role_and_nat_gateway(cluster: Any) -> None:
    waits = cluster().one("NodeGroup").depends_on
    assert {
        "dev-vpc-cni",
        "dev-kube-proxy",
        "dev-node-AmazonEKSWorkerNodePolicy",
        "dev-network-private-us-east-1a-nat",
    } <= waits


def test_children_inherit_the_dependencies_of_the_cluster(declare: Any) -> None:
    def make() -> None:
        first = pulumi.CustomResource("test:index:First", "first", {})
        EksCluster("dev", NEEDED, opts=pulumi.ResourceOptions(depends_on=[first]))  # type: ignore[arg-type]  # plain

    declared = declare(make)
    custom = [r for r in declared.resources if r.type.startswith("aws:")]
    assert [r.name for r in custom if "first" not in r.depends_on] == []


def test_kubeconfig_calls_the_aws_cli_in_the_clusters_region(declare: Any) -> None:
    found: list[Any] = []
    declare(lambda: EksCluster("dev", NEEDED).kubeconfig.apply(found.append))  # type: ignore[arg-type]  # plain
    (kubeconfig,) = found
    command = kubeconfig["users"][0]["user"]["exec"]
    assert command["command"] == "aws"
    assert command["args"] == [
        "--region",
        "us-east-1",
        "eks",
        "get-token",
        "--cluster-name",
        "dev-cluster",
        "--output",
        "json",
    ]
    assert kubeconfig["clusters"][0]["cluster"]["server"] == "https://api.example"


def test_deletion_protection_also_protects_the_pulumi_resource(cluster: Any) -> None:
    """EKS rejects only the deletion of the cluster, after its node groups are deleted."""
    kept = cluster(deletion_protection=True).one("Cluster")
    assert (kept.protect, kept.inputs["deletionProtection"]) == (True, True)
    assert not cluster().one("Cluster").protect
