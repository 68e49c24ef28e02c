"""Invalid inputs: each is rejected with its own message, and all errors are reported together,
before any resource is declared.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi.errors import InputPropertiesError

import pulumi_dra
from dra_planner import planfile
from dra_planner.fleet import read_fleet
from pulumi_dra.component_host import hosted_components

PROJECT = Path(__file__).parents[2]
ROLE, ADMIN = "arn:aws:iam::111122223333:role/team", "arn:aws:iam::111122223333:role/admin"
SESSION = "arn:aws:sts::111122223333:assumed-role/team/me"
KMS = "arn:aws:kms:us-east-1:111122223333"
REPAIR = {
    "condition": "AcceleratedHardwareReady",
    "reason": "NvidiaXID64Error",
    "wait_minutes": 5,
    "action": "Replace",
}


def fleet_text(stack: str, **changes: Any) -> str:
    config = yaml.safe_load((PROJECT / f"stacks/Pulumi.{stack}.yaml").read_text())["config"]
    return json.dumps({**config["pulumi-dra:fleet"], **changes})


def plan_text(stack: str, **changes: Any) -> str:
    """Return a plan with one node for each pool of the stack's fleet, after unchecked changes to
    the fleet.
    """
    fleet = read_fleet(json.loads(fleet_text(stack)))
    content: dict[str, Any] = {
        "inputs": planfile.inputs_of(fleet, []),
        "kubernetes": fleet.kubernetes,
        "verdict": "fits",
        "fleet": {**fleet.document(), **changes},
        **{key: [] for key in ("assumptions", "classes", "workloads")},
        "demand": {"level": "steady", "shapes": [], "sharedClaims": [], "blocked": []},
        "pools": [
            {
                "name": pool.name,
                "machine": pool.machine,
                "count": {
                    "min": 0,
                    "bound": 1,
                    "packing": 1,
                    "simulated": 1,
                    "max": pool.count.max,
                },
                "nodes": {"min": 1, "desired": 1, "max": pool.count.max},
                "devices": {"total": 1, "used": 0, "stranded": 1},
            }
            for pool in fleet.pools
        ],
    }
    return planfile.file_text(planfile.seal(content))


WEEKEND = {
    "start_time": "2026-11-21T00:00:00Z",
    "end_time": "2026-11-22T00:00:00Z",
    "recurrence": "FREQ=WEEKLY;BYDAY=SA",
}
BUSY = {"name": "busy", "start_time": "2026-11-20T00:00:00Z"}
RANGES = [f"203.0.113.{each}/32" for each in range(200)]
NEEDED: dict[str, dict[str, Any]] = {
    "AdminAccessPolicy": {"namespaces": []},
    "TenantAccess": {"tenants": [{"namespace": "vision", "groups": ["vision"]}]},
    "CapacityPlan": {"document": "{}"},
    "PlacementPolicies": {"plan": plan_text("eks-dev")},
    "PlanGate": {"plan": plan_text("eks-dev")},
    "EksNetwork": {},
    "EksCluster": {"kubernetes_version": "1.34"},
    "EksClusterAutoscaler": {"cluster_name": "dev", "kubernetes_version": "1.34"},
    "EksKarpenter": {
        "cluster_name": "dev",
        "cluster_endpoint": "https://api.example",
        "kubernetes_version": "1.34",
        "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    },
    "EksKarpenterPool": {
        "instance_profile_name": "nodes",
        "subnet_ids": ["subnet-a"],
        "cluster_security_group_id": "sg-cluster",
        "machine": "g6.2xlarge",
        "nodes": 1,
        "max_nodes": 4,
    },
    "EksGpuPool": {
        "cluster_name": "dev",
        "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
        "subnet_ids": ["subnet-a"],
        "machine": "g6.2xlarge",
        "max_nodes": 4,
    },
    "AksNetwork": {"location": "eastus", "resource_group_name": "dev"},
    "AksCluster": {"kubernetes_version": "1.34", "location": "eastus"},
    "AksGpuPool": {
        "cluster_name": "dev",
        "resource_group_name": "dev",
        "subnet_id": "subnet",
        "location": "eastus",
        "machine": "Standard_NC4as_T4_v3",
        "max_nodes": 4,
    },
    "GkeNetwork": {"region": "us-central1"},
    "GkeCluster": {"kubernetes_version": "1.34", "region": "us-central1", "security_group": "none"},
    "GkeGpuPool": {
        "cluster_name": "dev",
        "location": "us-central1",
        "machine": "g2-standard-8",
        "zones": ["us-central1-a"],
        "service_account": "nodes@p.example",
        "max_nodes": 4,
    },
    "DraDriver": {"version": "25.8.1", "platform": "eks", "max_nodes": 4},
    "DriverInstaller": {},
    "Dranet": {},
    "DeviceDriver": {"driver": "tpu", "platform": "gke"},
    "GpuMetrics": {},
    "KubeRay": {},
    "Kueue": {},
    "DeviceClasses": {
        "kubernetes_version": "1.34",
        "classes": [{"name": "large", "device": "gpu"}],
    },
    "DevicePlugin": {"version": "0.17.4"},
    "DraPlatform": {"plan": plan_text("eks-dev")},
}
AMI = "ami-0123456789abcdef0"
OF_KARPENTER: list[tuple[dict[str, Any], str, str]] = [
    ({}, "image", "is required; set it to al2023, the EKS image on which the image is based"),
    ({"image": "bottlerocket"}, "image", "run a device plugin"),
    (
        {"image": "al2023", "release_version": "1.34.2-20260115"},
        "release_version",
        "applies only to EKS-provided images, but image_id sets a custom image",
    ),
]
EFA = {"efa": True, "cluster_security_group_id": "sg-1", "vpc_id": "vpc-1"}


def classes(**settings: Any) -> dict[str, Any]:
    return {"classes": [{"name": "large", "device": "gpu", **settings}]}


def webhook(**settings: Any) -> dict[str, Any]:
    return {"webhook": True, "webhook_tls": settings}


CRD_OF_OTHERS = (
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
    "{name: a}, spec: {group: b}}"
)


def tenant(**settings: Any) -> dict[str, Any]:
    return {"tenants": [{"namespace": "vision", "groups": ["vision"], **settings}]}


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    # Messages that apply to the inputs of every component.
    (
        "EksCluster",
        {"public_acess_cidrs": []},
        "public_acess_cidrs",
        'did you mean "public_access_cidrs"?',
    ),
    (
        "DriverInstaller",
        {"wat": 1},
        "wat",
        "isn't an input of DriverInstaller; inputs are driver, pause_image",
    ),
    ("EksCluster", {"kubernetes_version": None}, "kubernetes_version", "is missing"),
    ("EksCluster", {"system_count": "2"}, "system_count", 'must be an integer, not "2"'),
    ("EksCluster", {"system_count": 2.5}, "system_count", "must be an integer, not 2.5"),
    ("EksCluster", {"system_count": True}, "system_count", "must be an integer, not true"),
    ("EksCluster", {"network_policy": "yes"}, "network_policy", 'must be true or false, not "yes"'),
    ("EksCluster", {"tags": ["a"]}, "tags", "must be a map of strings, not a list"),
    ("EksCluster", {"tags": {"a": 1}}, "tags.a", "must be a string, not 1"),
    (
        "EksCluster",
        {"public_access_cidrs": "10.0.0.0/8"},
        "public_access_cidrs",
        "must be a list of strings",
    ),
    (
        "EksCluster",
        {"system_machine": pulumi.Output.from_input("m7i.large")},
        "system_machine",
        "must be a plain value",
    ),
    # CapacityPlan
    ("CapacityPlan", {"document": "nonsense"}, "document", "isn't valid JSON"),
    (
        "CapacityPlan",
        {"document": "[]"},
        "document",
        "isn't a plan file, because it isn't a mapping",
    ),
    (
        "CapacityPlan",
        {"document": '{"version": 7}'},
        "document",
        "has version 7, but pulumi-dra requires version 1",
    ),
    (
        "CapacityPlan",
        {"document": '{"version": 1, "digest": "sha256:0"}'},
        "document",
        "someone changed it by hand",
    ),
    # EksNetwork and EksCluster
    ("EksNetwork", {"zone_count": 1}, "zone_count", "must be between 2 and 6, not 1"),
    (
        "EksNetwork",
        {"zones": ["us-east-1"]},
        "zones[0]",
        '"us-east-1" isn\'t a zone of EKS; use a zone such as',
    ),
    ("EksNetwork", {"zones": ["us-east-1a", "us-east-1a"]}, "zones", '"us-east-1a" appears twice'),
    (
        "EksNetwork",
        {"zones": ["us-east-1h"]},
        "zones[0]",
        '"us-east-1h" isn\'t a zone of EKS; use a zone such as',
    ),
    ("EksCluster", {"zones": ["us-east-1a", "us-east-1a"]}, "zones", '"us-east-1a" appears twice'),
    ("EksCluster", {"zone_count": 7}, "zone_count", "must be between 2 and 6, not 7"),
    ("EksNetwork", {"vpc_cidr": "10.0.0.0/24"}, "vpc_cidr", "must be between /16 and /20"),
    ("EksNetwork", {"vpc_cidr": "8.8.0.0/16"}, "vpc_cidr", "isn't a private range"),
    ("EksNetwork", {"vpc_cidr": "ten"}, "vpc_cidr", "\" isn't an IPv4 network in CIDR notation"),
    (
        "EksCluster",
        {"kubernetes_version": "1.33"},
        "kubernetes_version",
        "Kubernetes 1.33 isn't supported",
    ),
    (
        "EksCluster",
        {"kubernetes_version": "latest"},
        "kubernetes_version",
        '"latest" isn\'t a Kubernetes version',
    ),
    (
        "EksCluster",
        {"public_access_cidrs": ["0.0.0.0/0"]},
        "public_access_cidrs[0]",
        "opens the API server to everyone",
    ),
    (
        "EksCluster",
        {"public_access_cidrs": ["::/0"]},
        "public_access_cidrs[0]",
        "opens the API server to everyone",
    ),
    (
        "EksCluster",
        {"public_access_cidrs": ["10.0.0.1/8"]},
        "public_access_cidrs[0]",
        "has host bits set",
    ),
    (
        "EksCluster",
        {"public_access_cidrs": ["203.0.113.0/24", "2001:db8::/32"]},
        "public_access_cidrs[1]",
        (
            "\"2001:db8::/32\" isn't an IPv4 network, and IPv4 clusters on EKS don't accept IPv6 "
            "networks"
        ),
    ),
    (
        "EksCluster",
        {"public_access_cidrs": ["172.16.4.0/24"]},
        "public_access_cidrs[0]",
        "is a private network",
    ),
    ("EksCluster", {"subnet_ids": ["subnet-a"]}, "subnet_ids", "must contain at least two subnets"),
    (
        "EksCluster",
        {"subnet_ids": ["a", "b"], "zone_count": 2},
        "zone_count",
        "applies only to a new network, but",
    ),
    (
        "EksCluster",
        {"secrets_kms_key": "alias/mine"},
        "secrets_kms_key",
        '"alias/mine" is not the ARN of a KMS key',
    ),
    ("EksCluster", {"disk_kms_key": "mine"}, "disk_kms_key", '"mine" is not the ARN of a KMS key'),
    (
        "EksCluster",
        {"secrets_kms_key": f"{KMS}:alias/mine"},
        "secrets_kms_key",
        "so every `pulumi up` would show a difference; use",
    ),
    *(
        (
            component,
            {"kubernetes_version": text},
            "kubernetes_version",
            f'doesn\'t offer version "{text}"; use "{minor}"',
        )
        for component, text, minor in (
            ("EksCluster", "1.34.2", "1.34"),
            ("EksCluster", "v1.35", "1.35"),
            ("EksGpuPool", "1.34.2", "1.34"),
            ("AksCluster", "1.35.3-eks", "1.35"),
            ("AksGpuPool", "v1.35.3", "1.35"),
            ("GkeCluster", "v1.34", "1.34"),
        )
    ),
    *(
        (
            component,
            {**NAMED, "disk_kms_key": f"{KMS}:alias/mine"},
            "disk_kms_key",
            ", or set grant_key_use to false if the key policy allows EC2 Auto Scaling to use "
            "the key",
        )
        for component, NAMED in (("EksCluster", {}), ("EksGpuPool", {"grant_key_use": True}))
    ),
    (
        "EksCluster",
        {"tags": {"Owner": "a", "owner": "b"}},
        "tags.owner",
        '"Owner" is also set, but IAM doesn\'t distinguish the two keys; keep only one of them',
    ),
    (
        "EksCluster",
        {"tags": {"teams": "a, b"}},
        "tags.teams",
        "must contain only letters, digits, spaces, and",
    ),
    (
        "EksNetwork",
        {"tags": {"team (own)": "a"}},
        "tags.team (own)",
        "must have a key that contains only letters, digits, spaces, and",
    ),
    (
        "EksKarpenter",
        {"tags": {"A": "a", "a": "b"}},
        "tags.a",
        "\" is also set, but IAM doesn't distinguish the two keys; keep only one of them",
    ),
    ("EksCluster", {"grant_key_use": False}, "grant_key_use", "has no effect without disk_kms_key"),
    ("EksGpuPool", {"grant_key_use": True}, "grant_key_use", "has no effect without disk_kms_key"),
    (
        "GkeCluster",
        {"grant_key_use": True},
        "grant_key_use",
        "has no effect without secrets_kms_key or disk_kms_key",
    ),
    ("GkeGpuPool", {"grant_key_use": True}, "grant_key_use", "has no effect without disk_kms_key"),
    (
        "EksCluster",
        {"storage_drivers": ["nfs"]},
        "storage_drivers[0]",
        "isn't a supported storage driver; use one of: ebs",
    ),
    (
        "EksCluster",
        {"storage_drivers": ["ebs", "ebs"]},
        "storage_drivers",
        "contains a driver twice",
    ),
    (
        "GkeCluster",
        {"storage_drivers": ["ebs"]},
        "storage_drivers[0]",
        "use one of: filestore, gcs-fuse, lustre",
    ),
    ("EksCluster", {"storage_drivers": "ebs"}, "storage_drivers", "must be a list"),
    ("EksCluster", {"metrics_server": "yes"}, "metrics_server", "must be true or false"),
    (
        "EksCluster",
        {"addon_versions": {"aws-ebs-csi-driver": "v1"}},
        "addon_versions.aws-ebs-csi-driver",
        "is for storage_drivers: [ebs]",
    ),
    (
        "EksCluster",
        {"addon_versions": {"cilium": "v1"}},
        "addon_versions.cilium",
        "isn't an add-on that this component installs; use",
    ),
    (
        "GkeCluster",
        {"cluster_name": "Main"},
        "cluster_name",
        '"Main" is not 1 to 40 lowercase letters',
    ),
    (
        "GkeCluster",
        {"cluster_name": "g" * 41},
        "cluster_name",
        "that begin with a letter and don't end with a hyphen",
    ),
    (
        "GkeCluster",
        {"pods_cidr": "10.4.0.0/25"},
        "pods_cidr",
        '"10.4.0.0/25" is too small; use a /24 or larger',
    ),
    (
        "GkeCluster",
        {"pods_cidr": "10.0.0.0/16"},
        "pods_cidr",
        '"10.0.0.0/16" overlaps nodes_cidr, "10.0.0.0/20"',
    ),
    ("GkeCluster", {"nodes_cidr": "8.8.0.0/20"}, "nodes_cidr", "isn't a private range"),
    (
        "GkeCluster",
        {"service_cidr": "ten"},
        "service_cidr",
        "\" isn't an IPv4 network in CIDR notation",
    ),
    (
        "GkeCluster",
        {"network_id": "n", "pods_cidr": "10.16.0.0/14"},
        "pods_cidr",
        "applies only to a new network, but",
    ),
    (
        "GkeNetwork",
        {"nodes_cidr": "10.8.0.0/30"},
        "nodes_cidr",
        "is too small; use a /29 or larger",
    ),
    (
        "EksCluster",
        {"nat_gateways": False, "single_nat_gateway": True},
        "single_nat_gateway",
        "applies only to a network with nat_gateways",
    ),
    (
        "EksCluster",
        {"interface_endpoints": ["com.amazonaws.ec2!"]},
        "interface_endpoints[0]",
        '"com.amazonaws.ec2!" is not the last part of a service',
    ),
    (
        "EksNetwork",
        {"interface_endpoints": ["ssm", "ssm"]},
        "interface_endpoints",
        '"ssm" appears twice',
    ),
    (
        "EksNetwork",
        {"interface_endpoints": ["s3"]},
        "interface_endpoints",
        "which already has a gateway endpoint",
    ),
    (
        "EksCluster",
        {"subnet_ids": ["a", "b"], "nat_gateways": False},
        "nat_gateways",
        "applies only to a new network, but",
    ),
    ("EksCluster", {"service_cidr": "10.0.0.0/11"}, "service_cidr", "must be a /12 to a /24"),
    (
        "EksCluster",
        {"service_cidr": "100.64.0.0/16"},
        "service_cidr",
        '"100.64.0.0/16" isn\'t within 10.0.0.0/8',
    ),
    (
        "EksCluster",
        {"service_cidr": "10.0.4.0/24"},
        "service_cidr",
        'overlaps the network, "10.0.0.0/16"',
    ),
    (
        "EksCluster",
        {"service_cidr": "all"},
        "service_cidr",
        "\" isn't an IPv4 network in CIDR notation",
    ),
    (
        "EksCluster",
        {"control_plane_tier": "xl"},
        "control_plane_tier",
        "must be standard, tier-xl",
    ),
    *(
        (
            "EksCluster",
            {"access_entries": [{"name": "a", "principal_arn": ROLE, **entry}]},
            path,
            message,
        )
        for entry, path, message in (
            (
                {},
                "access_entries[0].policy",
                "or kubernetes_groups must be set, because otherwise the entry doesn't grant access",
            ),
            (
                {"policy": "owner"},
                "access_entries[0].policy",
                "must be cluster-admin, admin, edit, view, or none",
            ),
            (
                {"policy": "view", "name": "A"},
                "access_entries[0].name",
                '"A" is not at most 63 lowercase letters',
            ),
            (
                {"policy": "cluster-admin", "namespaces": ["a"]},
                "access_entries[0].namespaces",
                'applies only to admin, edit, and view, not to "cluster-admin"',
            ),
            (
                {"kubernetes_groups": ["system:masters"]},
                "access_entries[0].kubernetes_groups",
                "must not begin with system:, which EKS rejects",
            ),
            (
                {"policy": "view", "principal_arn": "me"},
                "access_entries[0].principal_arn",
                "isn't the ARN of",
            ),
            (
                {"policy": "view", "principal_arn": SESSION},
                "access_entries[0].principal_arn",
                "session; use the role itself",
            ),
        )
    ),
    *(
        ("EksCluster", {"admin_principal_arns": [ADMIN, arn]}, "admin_principal_arns[1]", message)
        for arn, message in (
            ("me", "isn't the ARN of an IAM role or user"),
            (SESSION, "is a session; use the role itself: arn:aws:iam::111122223333:role/team"),
            ("arn:aws:iam::111122223333:group/admins", "isn't the ARN of an IAM role or user"),
            (
                "arn:aws:iam::111122223333:role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForEKS",
                "is a service-linked role",
            ),
            (
                "arn:aws:iam::111122223333:role/AWSReservedSSO_Admin_0123456789abcdef",
                "whose ARN needs a path: role/aws-reserved/sso.amazonaws.com/",
            ),
            (ADMIN, f'"{ADMIN}" already has an entry'),
        )
    ),
    (
        "EksCluster",
        {
            "admin_principal_arns": [ADMIN],
            "access_entries": [
                {"name": "team", "principal_arn": ROLE, "policy": "view"},
                {"name": "again", "principal_arn": ADMIN, "policy": "view"},
            ],
        },
        "access_entries[1].principal_arn",
        f'"{ADMIN}" already has an entry',
    ),
    (
        "EksCluster",
        {
            "access_entries": [
                {"name": name, "principal_arn": ROLE, "policy": "view"} for name in ("a", "b")
            ]
        },
        "access_entries[1].principal_arn",
        f'"{ROLE}" already has an entry',
    ),
    *(
        (
            component,
            {"placement_group": True, "capacity": kind, "reservation_id": "cr-0123456789abcdef0"},
            "placement_group",
            "isn't supported with purchased capacity, because EC2 doesn't use purchased capacity "
            "in a new placement group; remove this input",
        )
        for component in ("EksGpuPool", "EksKarpenterPool")
        for kind in ("reservation", "capacity-block")
    ),
    ("EksCluster", {"access_entries": ["viewers"]}, "access_entries[0]", "must be a structure"),
    (
        "GkeGpuPool",
        {"node_version": "1.35.1-gke.1616000"},
        "node_version",
        "requires auto_upgrade: false, which needs a cluster without a release channel",
    ),
    (
        "GkeGpuPool",
        {"auto_upgrade": False, "node_version": "1.35"},
        "node_version",
        '"1.35" is not a GKE version',
    ),
    ("EksCluster", {"cluster_name": "-dev"}, "cluster_name", '"-dev" is not a cluster name'),
    ("EksCluster", {"cluster_name": "d" * 101}, "cluster_name", "at most 100"),
    (
        "EksCluster",
        {"cluster_name": "d", "log_retention_days": 10},
        "log_retention_days",
        "must be one of 1, 3, 5, 7",
    ),
    ("EksCluster", {"log_retention_days": 30}, "log_retention_days", "requires cluster_name"),
    (
        "EksCluster",
        {"addon_versions": {"eks-node-monitoring-agent": "v1"}},
        "addon_versions.eks-node-monitoring-agent",
        "is for node_monitoring: true",
    ),
    *(
        ("EksCluster", {"addon_settings": {addon: text}}, f"addon_settings.{addon}", message)
        for addon, text, message in (
            ("coredns", "replicaCount: 3", "isn't JSON"),
            ("coredns", "[3]", "must be a JSON object"),
            ("coredns", '{"env": 1}', "env must be a JSON object"),
            ("coredns", 3, "must be a string, not 3"),
            ("metrics-server", "{}", "is for metrics_server: true"),
            ("cilium", "{}", "isn't an add-on that this component installs; use"),
            (
                "vpc-cni",
                '{"enableNetworkPolicy": "false"}',
                "enableNetworkPolicy is already set by network_policy",
            ),
            (
                "vpc-cni",
                '{"env": {"ENABLE_PREFIX_DELEGATION": "true"}}',
                "is already set by prefix_delegation",
            ),
        )
    ),
    (
        "EksCluster",
        {"addon_settings": "all"},
        "addon_settings",
        'must be a map of strings, not "all"',
    ),
    ("EksCluster", {"tags": {"aws:team": "a"}}, "tags.aws:team", "must not begin with aws:"),
    (
        "EksCluster",
        {"tags": {"a": "b" * 257}},
        "tags.a",
        "must have at most 256 characters, not 257",
    ),
    ("EksNetwork", {"tags": {"": "b"}}, "tags.", "must have a key of 1 to 128 characters"),
    (
        "EksCluster",
        {"tags": {f"t{n}": "" for n in range(51)}},
        "tags",
        "has 51 entries, but the cloud allows at most 45",
    ),
    # EksGpuPool
    (
        "EksClusterAutoscaler",
        {"version": "1.35.2"},
        "version",
        ", because both must have the same minor version",
    ),
    (
        "EksGpuPool",
        {"boot_script": "echo"},
        "boot_script",
        "must start with an interpreter line",
    ),
    ("EksGpuPool", {"boot_script": ["#!/bin/sh"]}, "boot_script", ("must be a string, not a list")),
    (
        "EksGpuPool",
        {"security_group_ids": ["sg-1"]},
        "cluster_security_group_id",
        (
            "is required, because EKS doesn't add its security group if the launch template sets "
            "security groups"
        ),
    ),
    (
        "EksGpuPool",
        {"security_group_ids": "sg-1"},
        "security_group_ids",
        "must be a list of strings or outputs",
    ),
    (
        "EksGpuPool",
        {"security_group_ids": ["web"]},
        "security_group_ids[0]",
        "is not the ID of a security group",
    ),
    (
        "EksCluster",
        {"node_policy_arns": ["Admin"]},
        "node_policy_arns[0]",
        '"Admin" is not the ARN of a policy',
    ),
    (
        "EksCluster",
        {"node_policy_arns": [5]},
        "node_policy_arns[0]",
        "must be a string or an output, not 5",
    ),
    (
        "EksCluster",
        {"subnet_tags": {"aws:x": "y"}},
        "subnet_tags.aws:x",
        "must not begin with aws:",
    ),
    ("EksGpuPool", {"max_pods": 251}, "max_pods", "must be between 1 and 250, not 251"),
    ("EksGpuPool", {"reserved_cpu": "half"}, "reserved_cpu", '"half" isn\'t a valid quantity'),
    ("EksGpuPool", {"reserved_memory": "-1Gi"}, "reserved_memory", "must not be negative"),
    (
        "EksGpuPool",
        {"taints": [{"key": "nvidia.com/gpu"}]},
        "taints[0].key",
        'every GPU node already has the taint "',
    ),
    (
        "EksGpuPool",
        {"taints": [{"key": "a"}, {"key": "a"}]},
        "taints[1].key",
        '" appears twice with effect NoSchedule',
    ),
    (
        "EksGpuPool",
        {"taints": [{"key": "a", "effect": "Never"}]},
        "taints[0].effect",
        "must be NoSchedule",
    ),
    ("EksGpuPool", {"taints": [{"key": "a b"}]}, "taints[0].key", '"a b" isn\'t a valid label key'),
    ("EksGpuPool", {"keep_subnets": "yes"}, "keep_subnets", 'must be true or false, not "yes"'),
    ("EksGpuPool", {"max_nodes": 0}, "max_nodes", "must be between 1 and 100000, not 0"),
    ("EksGpuPool", {"min_nodes": 5}, "min_nodes", "the minimum (5) exceeds the maximum (4)"),
    ("EksGpuPool", {"min_nodes": 100_001}, "min_nodes", "must be between 0 and 100000, not 100001"),
    (
        "EksGpuPool",
        {"desired_nodes": 5},
        "desired_nodes",
        "5 isn't between min_nodes (0) and max_nodes (4)",
    ),
    ("EksGpuPool", {"subnet_ids": []}, "subnet_ids", "must not be empty"),
    ("EksGpuPool", {"node_role_arn": "nodes"}, "node_role_arn", '"nodes" is not the ARN of a role'),
    (
        "EksKarpenterPool",
        {"machine": "p6e-gb200.36xlarge", "capacity": "spot"},
        "capacity",
        "p6e-gb200.36xlarge isn't available as spot; use a capacity block",
    ),
    (
        "EksGpuPool",
        {"capacity": "cheap"},
        "capacity",
        "must be on-demand, spot, reservation, or capacity-block",
    ),
    (
        "EksGpuPool",
        {"capacity": "reservation"},
        "reservation_id",
        "set it to the ID of the purchased capacity",
    ),
    (
        "EksGpuPool",
        {"capacity": "capacity-block"},
        "reservation_id",
        "set it to the ID of the purchased capacity",
    ),
    ("EksGpuPool", {"reservation_id": "cr-1"}, "reservation_id", 'not to "on-demand"'),
    (
        "EksGpuPool",
        {"capacity": "reservation", "reservation_id": "x"},
        "reservation_id",
        "isn't the ID of a reservation",
    ),
    (
        "EksGpuPool",
        {"image_id": AMI, "image": "bottlerocket"},
        "image",
        "NVIDIA images run a device plugin",
    ),
    ("EksGpuPool", {"image_id": AMI, "image": "ubuntu"}, "image", 'must be al2023, not "ubuntu"'),
    (
        "EksGpuPool",
        {"image_id": AMI},
        "image",
        "is required; set it to al2023, the EKS image on which the image is based",
    ),
    (
        "EksGpuPool",
        {"image_id": "ami-1", "image": "al2023"},
        "image_id",
        '"ami-1" isn\'t a valid image ID (example: ami-',
    ),
    (
        "EksGpuPool",
        {"image_id": AMI, "image": "al2023"},
        "service_cidr",
        "is required with image_id, because EKS doesn't add the cluster's settings to nodes that use "
        "a custom image",
    ),
    (
        "EksGpuPool",
        {"image_id": 5, "image": "al2023"},
        "image_id",
        "must be a string or an output, not 5",
    ),
    (
        "EksGpuPool",
        {"cluster_endpoint": "https://api.example"},
        "cluster_endpoint",
        (
            "applies only with image_id, because EKS adds the cluster's settings to nodes that "
            "use its own images"
        ),
    ),
    *(
        (
            "EksGpuPool",
            {"image_id": AMI, "image": "al2023", **beside},
            key,
            "applies only to EKS-provided images, but image_id sets a custom image",
        )
        for beside in ({"release_version": "1.34.2-20260115"}, {"kubernetes_version": "1.34"})
        for key in beside
    ),
    (
        "EksGpuPool",
        {"huge_pages_2mi": 0},
        "huge_pages_2mi",
        "must be between 1 and 2147483647, not 0",
    ),
    (
        "EksGpuPool",
        {"huge_pages_1gi": 64},
        "huge_pages_1gi",
        "64 GiB of huge pages and the",
    ),
    (
        "EksKarpenterPool",
        {"huge_pages_1gi": 64},
        "huge_pages_1gi",
        "64 GiB of huge pages and the",
    ),
    ("GkeGpuPool", {"huge_pages_2mi": "4Gi"}, "huge_pages_2mi", 'must be an integer, not "4Gi"'),
    (
        "GkeGpuPool",
        {"huge_pages_2mi": 20_000},
        "huge_pages_2mi",
        "39.0625 GiB of huge pages and the",
    ),
    *(
        ("EksKarpenterPool", {"image_id": AMI, **more}, key, message)
        for more, key, message in OF_KARPENTER
    ),
    (
        "EksGpuPool",
        {"efa": True},
        "vpc_id",
        "is required with efa, because the launch template then sets the security groups",
    ),
    (
        "EksGpuPool",
        {**EFA, "machine": "g6.2xlarge"},
        "efa",
        "g6.2xlarge doesn't have an EFA interface",
    ),
    (
        "EksGpuPool",
        {**EFA, "machine": "g9.huge"},
        "efa",
        'the number of EFA interfaces on "g9.huge" is unknown',
    ),
    ("EksGpuPool", {"mig_layout": "all-1g.10gb"}, "mig_layout", "L4"),
    (
        "EksGpuPool",
        {"machine": "p5.48xlarge", "mig_layout": "all-9g.1gb"},
        "mig_layout",
        "all-9g.1gb",
    ),
    ("EksGpuPool", {"disk_gib": 20}, "disk_gib", "must be between 50 and 16384, not 20"),
    ("EksGpuPool", {"disk_iops": 100}, "disk_iops", "must be between 3000 and 80000, not 100"),
    (
        "EksGpuPool",
        {"disk_gib": 50, "disk_iops": 30_000},
        "disk_iops",
        "too high for a disk of 50 GiB, which supports at most 25000",
    ),
    (
        "EksGpuPool",
        {"disk_throughput": 1000},
        "disk_throughput",
        "1000 MiB/s needs at least 4000 operations per second",
    ),
    (
        "EksGpuPool",
        {"disk_throughput": "fast"},
        "disk_throughput",
        'must be an integer, not "fast"',
    ),
    (
        "EksGpuPool",
        {"repair_limits": {"unhealthy_count": 1}},
        "repair_limits",
        "applies only with node_repair: true",
    ),
    *(
        (
            "EksGpuPool",
            {"node_repair": True, "repair_limits": limits},
            f"repair_limits.{path}",
            message,
        )
        for limits, path, message in (
            ({"unhealthy_count": 0}, "unhealthy_count", "must be between 1 and"),
            (
                {"parallel_percentage": 101},
                "parallel_percentage",
                "must be between 1 and 100, not 101",
            ),
            (
                {"unhealthy_count": 1, "unhealthy_percentage": 1},
                "unhealthy_percentage",
                "set either unhealthy_count",
            ),
            (
                {"overrides": [REPAIR, REPAIR]},
                "overrides[1].reason",
                "appears twice for this condition",
            ),
            (
                {"overrides": [{**REPAIR, "action": "Repair"}]},
                "overrides[0].action",
                "must be Replace",
            ),
            ({"overrides": [{"condition": "Ready"}]}, "overrides[0].wait_minutes", "is missing"),
            ({"overrides": "all"}, "overrides", 'must be a list, not "all"'),
            ({"most": 1}, "most", "isn't an input of NodeRepairLimits"),
        )
    ),
    (
        "EksGpuPool",
        {"node_repair": True, "repair_limits": 5},
        "repair_limits",
        "must be a structure, not 5",
    ),
    *(
        (
            component,
            {"cpu_manager_policy": cpus, "topology_manager_policy": topology},
            f"{of}_manager_policy",
            message,
        )
        for component in ("EksGpuPool", "GkeGpuPool")
        for cpus, topology, of, message in (
            ("exclusive", None, "cpu", "must be none or static"),
            (
                "static",
                "single-numa-node",
                "topology",
                ", the kubelet might reject pods that the plan places, because the plan "
                "doesn't model NUMA nodes; use best-effort",
            ),
            ("static", "all", "topology", 'must be none or best-effort, not "all"'),
            (
                None,
                "best-effort",
                "topology",
                "best-effort has no effect without cpu_manager_policy: static",
            ),
        )
    ),
    (
        "GkeGpuPool",
        {"sysctls": {"net.ipv4.ip_forward": "1"}},
        "sysctls.net.ipv4.ip_forward",
        "GKE doesn't support this kernel parameter",
    ),
    (
        "GkeGpuPool",
        {"sysctls": {"vm.swappiness": " "}},
        "sysctls.vm.swappiness",
        "must have a value",
    ),
    (
        "GkeGpuPool",
        {"sysctls": {"vm.swappiness": 10}},
        "sysctls.vm.swappiness",
        "must be a string, not 10",
    ),
    (
        "GkeGpuPool",
        {"sysctls": ["vm.swappiness"]},
        "sysctls",
        ("must be a map of strings, not a list"),
    ),
    (
        "GkeGpuPool",
        {"disk_iops": 3000},
        "disk_iops",
        "applies only to hyperdisk-balanced, but g2-standard-8 boots from pd",
    ),
    (
        "GkeGpuPool",
        {"machine": "a4-highgpu-8g", "disk_iops": 9},
        "disk_iops",
        "must be between 3000 and 160000, not 9",
    ),
    (
        "GkeGpuPool",
        {"machine": "a4-highgpu-8g", "disk_iops": 100_000, "disk_throughput": 140},
        "disk_throughput",
        "140 MiB/s is too slow for 100000 operations per second; this throughput supports at most "
        "35840",
    ),
    (
        "GkeGpuPool",
        {"local_ssds": 2},
        "local_ssds",
        "g2-standard-8 doesn't support 2 local SSDs; it supports 1",
    ),
    (
        "GkeGpuPool",
        {"machine": "a3-highgpu-8g", "local_ssds": 16},
        "local_ssds",
        "doesn't support additional local SSDs, because its included SSDs are always attached",
    ),
    ("GkeGpuPool", {"local_ssds": 0}, "local_ssds", "must be between 1 and 32, not 0"),
    (
        "GkeGpuPool",
        {"host_maintenance": "NEVER"},
        "host_maintenance",
        "must be PERIODIC or AS_NEEDED",
    ),
    (
        "GkeGpuPool",
        {"placement_policy": "Close"},
        "placement_policy",
        '"Close" is not the name of a resource policy',
    ),
    (
        "GkeGpuPool",
        {"zones": ["us-central1-a", "us-central1-b"], "placement_policy": "close"},
        "placement_policy",
        "requires exactly one zone, not 2",
    ),
    (
        "GkeGpuPool",
        {"placement_policy": "close", "compact_placement": False},
        "placement_policy",
        "already places nodes close together, so compact_placement can't be false",
    ),
    *(
        (
            "GkeCluster",
            {"maintenance_window": {**WEEKEND, **window}},
            f"maintenance_window.{path}",
            message,
        )
        for window, path, message in (
            (
                {"end_time": "2026-11-21T02:00:00Z"},
                "end_time",
                "must be at least 4 hours after start_time",
            ),
            (
                {"end_time": "2026-11-21T08:00:00Z"},
                "recurrence",
                "allows 32 hours in 32 days, but GKE requires 48",
            ),
            (
                {"recurrence": "FREQ=WEEKLY;INTERVAL=4;BYDAY=SA"},
                "recurrence",
                "allows 24 hours in 32 days",
            ),
            ({"recurrence": "FREQ=MONTHLY"}, "recurrence", "allows 24 hours in 32 days"),
            (
                {"recurrence": "FREQ=MONTHLY;BYMONTHDAY=1,31"},
                "recurrence",
                "allows 24 hours in 32 days",
            ),
            ({"recurrence": "FREQ=YEARLY"}, "recurrence", "allows 0 hours in 32 days"),
            (
                {"recurrence": "FREQ=HOURLY"},
                "recurrence",
                '"FREQ=HOURLY" is not a daily, weekly, monthly, or yearly RFC 5545 rule',
            ),
            ({"start_time": "saturday"}, "start_time", '"saturday" is not a time'),
        )
    ),
    (
        "GkeCluster",
        {"maintenance_window": "weekends"},
        "maintenance_window",
        'must be a structure, not "weekends"',
    ),
    (
        "GkeCluster",
        {"maintenance_window": WEEKEND, "maintenance_start": "03:00"},
        "maintenance_window.start_time",
        "can't be combined with maintenance_start; set only one of them",
    ),
    *(
        (
            "GkeCluster",
            {"maintenance_exclusions": [{**BUSY, **exclusion}]},
            f"maintenance_exclusions[0].{path}",
            message,
        )
        for exclusion, path, message in (
            ({}, "end_time", "is missing"),
            (
                {"until_end_of_support": True, "scope": "NO_UPGRADES"},
                "scope",
                "ends after at most 30 days; set",
            ),
            (
                {"until_end_of_support": True, "end_time": BUSY["start_time"]},
                "end_time",
                "can't be combined with until_end_of_support",
            ),
        )
    ),
    (
        "GkeCluster",
        {"monitoring_components": ["GPUS"]},
        "monitoring_components[0]",
        '"GPUS" isn\'t a component',
    ),
    (
        "GkeCluster",
        {"monitoring_components": ["SYSTEM_COMPONENTS"]},
        "monitoring_components[0]",
        "are always enabled",
    ),
    (
        "GkeCluster",
        {"monitoring_components": ["POD", "POD"]},
        "monitoring_components",
        "contains a component twice",
    ),
    (
        "EksGpuPool",
        {"local_storage": "raid5"},
        "local_storage",
        "must be none, raid0, or mount",
    ),
    (
        "EksGpuPool",
        {"labels": {"nvidia.com/gpu.dra": "false"}},
        "labels.nvidia.com/gpu.dra",
        '", which drivers use to find their nodes',
    ),
    ("EksGpuPool", {"labels": {"a b": "c"}}, "labels.a b", "isn't a valid label key"),
    (
        "EksGpuPool",
        {"labels": {"a": "b c"}},
        "labels.a",
        '"b c" isn\'t a valid label value (at most',
    ),
    (
        "EksGpuPool",
        {"labels": {f"{'a' * 62}/b": "c"}},
        f"labels.{'a' * 62}/b",
        "has 64 characters, but EKS allows at most 63",
    ),
    (
        "EksGpuPool",
        {"taints": [{"key": f"{'a' * 62}/b"}]},
        "taints[0].key",
        "EKS allows at most 63",
    ),
    ("EksGpuPool", {"pool_name": "a b"}, "pool_name", '"a b" is not the value of a label'),
    # AksNetwork, AksCluster and AksGpuPool
    (
        "AksNetwork",
        {"location": "mars"},
        "location",
        '"mars" isn\'t a region of AKS; use a region such as eastus',
    ),
    ("AksNetwork", {"resource_group_name": None}, "resource_group_name", "is missing"),
    (
        "AksCluster",
        {"kubernetes_version": "1.33"},
        "kubernetes_version",
        "isn't supported; use a version from 1.34 (the first with resource.k8s.io/v1) to",
    ),
    ("AksCluster", {"public_access_cidrs": ["0.0.0.0/0"]}, "public_access_cidrs[0]", "to everyone"),
    (
        "AksCluster",
        {"public_access_cidrs": ["2001:db8::/32"]},
        "public_access_cidrs[0]",
        "\" isn't an IPv4 network, and AKS supports only IPv4",
    ),
    (
        "AksCluster",
        {"public_access_cidrs": ["192.168.1.0/24"]},
        "public_access_cidrs[0]",
        "is a private network",
    ),
    (
        "AksCluster",
        {"public_access_cidrs": ["0.0.0.0/32"]},
        "public_access_cidrs[0]",
        "\" doesn't allow any addresses, and AKS rejects it in a list with other ranges; use an empty "
        "list for a private cluster",
    ),
    (
        "AksCluster",
        {"public_access_cidrs": RANGES},
        "public_access_cidrs",
        "has 200 ranges, but AKS allows at most 199 in addition to its own",
    ),
    ("AksCluster", {"system_count": 0}, "system_count", "must be between 1 and 100, not 0"),
    (
        "AksCluster",
        {"location": "eastus-1"},
        "location",
        '"eastus-1" is a zone; use region "eastus"',
    ),
    (
        "AksCluster",
        {"system_zones": ["westus2-1"]},
        "system_zones[0]",
        'zone "westus2-1" isn\'t in region eastus',
    ),
    (
        "AksCluster",
        {"system_zones": ["eastus-1", "eastus-1"]},
        "system_zones",
        '"eastus-1" appears twice',
    ),
    (
        "AksCluster",
        {"system_zones": ["1"]},
        "system_zones[0]",
        '"1" doesn\'t include its region; use "eastus-1"',
    ),
    (
        "AksCluster",
        {"log_retention_days": 29},
        "log_retention_days",
        "must be between 30 and 730, not 29",
    ),
    (
        "AksCluster",
        {"kubelogin": "password"},
        "kubelogin",
        "must be azurecli, devicecode, interactive",
    ),
    ("AksCluster", {"maintenance_start": "25:00"}, "maintenance_start", "is not a time of day"),
    (
        "AksCluster",
        {"encryption_at_host": "no"},
        "encryption_at_host",
        'must be true or false, not "no"',
    ),
    (
        "AksCluster",
        {"deletion_protection": 1},
        "deletion_protection",
        "must be true or false, not 1",
    ),
    ("AksCluster", {"tags": {"": "a"}}, "tags.", "must have a key of 1 to 512 characters"),
    (
        "AksGpuPool",
        {"machine": "Standard_NC4as_T4_v4"},
        "machine",
        "did you mean Standard_NC4as_T4_v3",
    ),
    ("AksGpuPool", {"machine": "g6.2xlarge"}, "machine", "only EKS offers g6.2xlarge"),
    ("AksGpuPool", {"max_pods": 9}, "max_pods", "must be between 10 and 250, not 9"),
    ("AksGpuPool", {"disk_gib": 49}, "disk_gib", "must be between 50 and 2048, not 49"),
    ("AksGpuPool", {"disk_gib": 2049}, "disk_gib", "must be between 50 and 2048, not 2049"),
    ("AksGpuPool", {"max_nodes": 0}, "max_nodes", "must be between 1 and 1000, not 0"),
    ("AksGpuPool", {"max_nodes": 1001}, "max_nodes", "1000, not 1001"),
    ("AksGpuPool", {"min_nodes": 5}, "min_nodes", "the minimum (5) exceeds the maximum (4)"),
    (
        "AksGpuPool",
        {"capacity": "capacity-block"},
        "capacity",
        "must be on-demand, spot, or reservation",
    ),
    (
        "AksGpuPool",
        {"capacity": "reservation", "reservation_group_id": "h100", "cluster_principal_id": "p"},
        "reservation_group_id",
        '"h100" isn\'t the ID of a capacity reservation group',
    ),
    (
        "AksGpuPool",
        {"zones": ["westus2-1"]},
        "zones[0]",
        'zone "westus2-1" isn\'t in region eastus',
    ),
    ("AksGpuPool", {"zones": ["eastus-4"]}, "zones[0]", '"eastus-4" isn\'t a zone of AKS'),
    ("AksGpuPool", {"zones": ["eastus-1", "eastus-1"]}, "zones", '"eastus-1" appears twice'),
    (
        "AksGpuPool",
        {"labels": {"kubernetes.azure.com/mode": "user"}},
        "labels.kubernetes.azure.com/mode",
        "AKS rejects labels with the prefix",
    ),
    ("AksGpuPool", {"taints": [{"key": "a b"}]}, "taints[0].key", '"a b" isn\'t a valid label key'),
    ("AksGpuPool", {"max_surge": -1}, "max_surge", "must be between 0 and 100, not -1"),
    ("AksGpuPool", {"autoscaled": "yes"}, "autoscaled", 'must be true or false, not "yes"'),
    # GkeNetwork, GkeCluster and GkeGpuPool
    (
        "GkeNetwork",
        {"region": "us-central1-a"},
        "region",
        '"us-central1-a" is a zone; use region "us-central1"',
    ),
    (
        "GkeCluster",
        {"node_zones": ["europe-west4-a"]},
        "node_zones[0]",
        '"europe-west4-a" isn\'t in region',
    ),
    (
        "GkeCluster",
        {"node_zones": ["a"]},
        "node_zones[0]",
        '"a" isn\'t a zone of GKE; use a zone such as',
    ),
    ("GkeCluster", {"zonal": True}, "zonal", "requires exactly one zone in node_zones"),
    (
        "GkeCluster",
        {"release_channel": "BETA"},
        "release_channel",
        "must be RAPID, REGULAR, STABLE,",
    ),
    (
        "GkeCluster",
        {"security_group": None},
        "security_group",
        "is missing; set it to gke-security-groups@YOUR-DOMAIN, the group",
    ),
    (
        "GkeCluster",
        {
            "maintenance_exclusions": [
                {"name": "a", "start_time": "today", "end_time": "2026-12-04T00:00:00Z"}
            ]
        },
        "maintenance_exclusions[0].start_time",
        '"today" is not a time',
    ),
    (
        "GkeCluster",
        {"maintenance_exclusions": [{"name": "a", "scope": "ALL"}]},
        "maintenance_exclusions[0].scope",
        "must be NO_UPGRADES",
    ),
    (
        "GkeCluster",
        {"network_id": "n"},
        "subnetwork_id",
        "is required, because an existing network needs all of",
    ),
    (
        "GkeCluster",
        {"security_group": "ops@x.example"},
        "security_group",
        "is not a group gke-security-groups@",
    ),
    (
        "GkeCluster",
        {"resource_labels": {"Team": "a"}},
        "resource_labels.Team",
        "must have a key of at most 63 lowercase letters",
    ),
    (
        "GkeGpuPool",
        {"resource_labels": {"team": "A b"}},
        "resource_labels.team",
        "must have",
    ),
    ("GkeGpuPool", {"max_pods": 4}, "max_pods", "must be between 8 and 256, not 4"),
    (
        "GkeGpuPool",
        {"driver_installation": "latest"},
        "driver_installation",
        '", because DriverInstaller, not GKE, installs the driver on DRA nodes',
    ),
    (
        "GkeGpuPool",
        {"location_policy": "BALANCED"},
        "location_policy",
        "applies only with autoscaled: true, because GKE spreads",
    ),
    (
        "GkeGpuPool",
        {"capacity": "queued", "autoscaled": True, "location_policy": "BALANCED"},
        "location_policy",
        'must be ANY with "queued" capacity',
    ),
    ("EksGpuPool", {"node_group_name": "a b"}, "node_group_name", "at most 63 letters"),
    ("EksGpuPool", {"launch_template_name": "a"}, "launch_template_name", "3 to 128 letters"),
    ("GkeGpuPool", {"node_pool_name": "L4"}, "node_pool_name", "at most 40 lowercase letters"),
    ("GkeGpuPool", {"zones": []}, "zones", "must not be empty"),
    ("GkeGpuPool", {"zones": ["us-central1-a"] * 2}, "zones[1]", '" appears twice'),
    (
        "GkeGpuPool",
        {"zones": ["us-central1-a", "us-central1-b"], "desired_nodes": 3},
        "desired_nodes",
        (
            "3 nodes can't be created, because without an autoscaler, GKE creates the same "
            "number of nodes in each of the pool's 2 zones"
        ),
    ),
    (
        "GkeGpuPool",
        {"machine": "a4x-highgpu-4g", "capacity": "flex-start", "autoscaled": True},
        "capacity",
        "a4x-highgpu-4g isn't available as flex-start; use a reservation",
    ),
    (
        "GkeGpuPool",
        {"capacity": "reservation"},
        "reservation_name",
        "set it to the name of the purchased capacity",
    ),
    (
        "GkeGpuPool",
        {"reservation_name": "r"},
        "reservation_name",
        'applies only to "reservation" capacity, not to "on-demand"',
    ),
    (
        "GkeGpuPool",
        {"reservation_name": "r/reservationBlocks/b"},
        "reservation_name",
        "doesn't include the project",
    ),
    (
        "GkeGpuPool",
        {"capacity": "flex-start"},
        "autoscaled",
        "GKE starts its nodes when pods request them",
    ),
    (
        "GkeGpuPool",
        {"max_run_seconds": 3600},
        "max_run_seconds",
        'applies only to "flex-start" capacity, not to "on-demand"',
    ),
    (
        "GkeGpuPool",
        {"machine": "a4-highgpu-8g", "disk_type": "pd-ssd"},
        "disk_type",
        'a4-highgpu-8g can\'t boot from "pd-ssd"; use hyperdisk-balanced',
    ),
    (
        "GkeGpuPool",
        {"mig_partition": "1g.5gb"},
        "mig_partition",
        "GKE doesn't support MIG with DRA",
    ),
    (
        "GkeGpuPool",
        {"gpu_sharing": "MPS"},
        "gpu_sharing",
        "GKE doesn't support time-sharing and MPS with DRA",
    ),
    *(
        ("GkeGpuPool", {"autoscaled": True, "capacity": kind, **args}, key, message)
        for kind, args, key, message in (
            ("flex-start", {"min_nodes": 1}, "min_nodes", 'must be 0 with "flex-start" capacity'),
            ("queued", {"min_nodes": 1}, "min_nodes", 'must be 0 with "queued" capacity'),
            (
                "flex-start",
                {"compact_placement": True},
                "compact_placement",
                "supports flex-start capacity only on A3 Ultra, A4, and H4D machine types, not on",
            ),
            (
                "queued",
                {"placement_policy": "close"},
                "placement_policy",
                "isn't supported with queued capacity, because GKE chooses where a "
                "ProvisioningRequest's nodes run",
            ),
        )
    ),
    (
        "GkeGpuPool",
        {"zones": ["us-central1-a", "us-central1-b"], "compact_placement": True},
        "compact_placement",
        "requires exactly one zone, not 2",
    ),
    # What runs in the cluster
    (
        "DraDriver",
        {"version": "25.9.9"},
        "version",
        '"25.9.9" isn\'t a known version of the NVIDIA DRA driver',
    ),
    ("DraDriver", {"version": "25.3.0"}, "version", "can't be installed"),
    (
        "DraDriver",
        {"platform": None},
        "platform",
        "is missing; use one of aks, eks, gke, gpu-operator",
    ),
    ("DraDriver", {"platform": "azure"}, "platform", "must be aks, eks, gke, or gpu-operator"),
    (
        "DraDriver",
        {"namespace": "default"},
        "namespace",
        "must not be default, because the chart rejects it",
    ),
    (
        "DraDriver",
        {"feature_gates": {"DynamicMIG": True}},
        "feature_gates.DynamicMIG",
        "driver doesn't have the feature gate",
    ),
    (
        "DraDriver",
        {"feature_gates": {"MPSSupport": "on"}},
        "feature_gates.MPSSupport",
        "must be true or false",
    ),
    (
        "DraDriver",
        {"version": "25.12.0", "feature_gates": {"DynamicMIG": True, "MPSSupport": True}},
        "feature_gates.MPSSupport",
        "mutually exclusive",
    ),
    (
        "DraDriver",
        {"version": "0.5.0", "feature_gates": {"MPSSupport": True, "NVMLDeviceHealthCheck": True}},
        "feature_gates.NVMLDeviceHealthCheck",
        "the mutually exclusive feature gates MPSSupport and NVMLDeviceHealthCheck are both on",
    ),
    (
        "DraDriver",
        {"consumable_shares": "memory"},
        "consumable_shares",
        "use version 0.5.0 or later, which is newer than 25.12.0",
    ),
    (
        "DraDriver",
        {"version": "0.5.0", "consumable_shares": "4"},
        "consumable_shares",
        "turn on the ConsumableShares feature gate",
    ),
    (
        "DraDriver",
        {"consumable_shares": "half"},
        "consumable_shares",
        '"half" isn\'t a valid sharing mode',
    ),
    (
        "DraDriver",
        {"network_policy": True},
        "network_policy",
        "requires chart version 25.12.0 or later, not 25.8.1",
    ),
    (
        "DraDriver",
        {"version": "25.3.2", "webhook": True},
        "webhook",
        "requires chart version 25.8.0 or later",
    ),
    (
        "DraDriver",
        {"webhook_failure_policy": "Ignore"},
        "webhook_failure_policy",
        "applies only with webhook: true",
    ),
    ("DraDriver", {"webhook_replicas": 2}, "webhook_replicas", ("applies only with webhook: true")),
    (
        "DraDriver",
        {"webhook_tls": {"secret_name": "s", "ca_bundle": "Q0E="}},
        "webhook_tls",
        "applies only with webhook: true",
    ),
    (
        "DraDriver",
        webhook(issuer_type="own"),
        "webhook_tls.issuer_type",
        "must be selfsigned, clusterissuer",
    ),
    (
        "DraDriver",
        webhook(issuer_type="issuer"),
        "webhook_tls.issuer_name",
        "is missing; set it to the name of the issuer",
    ),
    (
        "DraDriver",
        webhook(issuer_name="x"),
        "webhook_tls.issuer_name",
        "applies only if issuer_type is clusterissuer or issuer",
    ),
    (
        "DraDriver",
        webhook(secret_name="x"),
        "webhook_tls.ca_bundle",
        "secret_name and ca_bundle must be set together",
    ),
    (
        "DraDriver",
        webhook(secret_name="x", ca_bundle="Q0E=", issuer_type="issuer", issuer_name="y"),
        "webhook_tls.secret_name",
        "can't be combined with an issuer; set only one of them",
    ),
    ("DraDriver", {"image_digest": "latest"}, "image_digest", '"latest" is not a digest'),
    (
        "DraDriver",
        {"image_repository": "m.example/d:v1"},
        "image_repository",
        "must not have a tag or a digest",
    ),
    (
        "DraDriver",
        {"image_repository": "https://m.example/d"},
        "image_repository",
        "isn't a valid image",
    ),
    (
        "DraDriver",
        {"image_pull_secrets": ["My_Secret"]},
        "image_pull_secrets[0]",
        "is not a Secret's name",
    ),
    (
        "DraDriver",
        {"driver_root": "opt/nvidia"},
        "driver_root",
        '"opt/nvidia" is not an absolute path',
    ),
    ("DraDriver", {"tolerations": [{"value": "x"}]}, "tolerations[0].key", "is missing"),
    (
        "DraDriver",
        {"tolerations": [{"key": "a", "effect": "Never"}]},
        "tolerations[0].effect",
        "must be NoSch",
    ),
    (
        "DraDriver",
        {"keep_old_names": False},
        "keep_old_names",
        "25.8.1 supports only the old names. The new names need version 0.4.0 or later",
    ),
    (
        "DraDriver",
        {"crd_manifests": "a: b"},
        "crd_manifests",
        "document 1 isn't a CustomResourceDefinition",
    ),
    ("DraDriver", {"crd_manifests": "a: [b"}, "crd_manifests", "isn't valid YAML"),
    ("DraDriver", {"crd_manifests": "---"}, "crd_manifests", "doesn't contain a manifest"),
    (
        "DraDriver",
        {"crd_manifests": CRD_OF_OTHERS},
        "crd_manifests",
        "document 1 doesn't define a kind of the driver's group resource.nvidia",
    ),
    (
        "DraDriver",
        {
            "version": "0.4.1",
            "feature_gates": {"PassthroughSupport": True, "NVMLDeviceHealthCheck": True},
        },
        "feature_gates.NVMLDeviceHealthCheck",
        "mutually exclusive",
    ),
    (
        "DraDriver",
        {"version": "0.4.1", "feature_gates": {"DeviceMetadata": True}},
        "feature_gates.DeviceMetadata",
        "needs PassthroughSupport",
    ),
    (
        "DraDriver",
        {
            "version": "0.4.1",
            "feature_gates": {"ComputeDomainCliques": True, "IMEXDaemonsWithDNSNames": False},
        },
        "feature_gates.ComputeDomainCliques",
        "needs IMEXDaemonsWithDNSNames",
    ),
    ("DevicePlugin", {"image_digest": "latest"}, "image_digest", '"latest" is not a digest'),
    (
        "DevicePlugin",
        {"version": None, "existing_daemon_set": "x", "image_repository": "m.example/p"},
        "image_repository",
        "applies only to a chart that this component installs",
    ),
    (
        "DevicePlugin",
        {"version": None, "existing_daemon_set": "x", "feature_discovery": True},
        "feature_discovery",
        "applies only to a chart that this component installs",
    ),
    (
        "GpuMetrics",
        {"collector": "datadog"},
        "collector",
        "must be prometheus-operator, google, or annotations",
    ),
    ("GpuMetrics", {"driver_folder": "home"}, "driver_folder", '"home" is not an absolute path'),
    (
        "KubeRay",
        {"version": "1.7.0", "chart": "own"},
        "version",
        "`chart` sets another chart, which has its own version",
    ),
    (
        "Kueue",
        {"device_classes": ["Large"]},
        "device_classes[0]",
        '"Large" is not the name of a DeviceClass',
    ),
    ("Kueue", {"device_classes": ["a", "a"]}, "device_classes", "contains a class twice"),
    (
        "Kueue",
        {"device_classes": [f"c{n}" for n in range(17)]},
        "device_classes",
        "has 17 classes, but Kueue maps at most 16",
    ),
    ("Dranet", {"version": "latest"}, "version", '"latest" isn\'t a version such as 1.0.0'),
    (
        "Dranet",
        {"image_repository": "m.example/d@sha256:1"},
        "image_repository",
        "must not have a tag or a digest",
    ),
    ("Dranet", {"tolerations": ["team"]}, "tolerations[0]", 'must be a structure, not "team"'),
    ("DriverInstaller", {"pause_image": "a b"}, "pause_image", '"a b" is not an image'),
    (
        "DriverInstaller",
        {"driver": "newest"},
        "driver",
        '"newest" is not latest, default, or a driver version',
    ),
    ("DevicePlugin", {"version": "0.1"}, "version", "0.1"),
    ("DevicePlugin", {"existing_daemon_set": "x"}, "version", "set either version"),
    ("DevicePlugin", {"version": None}, "version", "set either version"),
    (
        "DevicePlugin",
        {"existing_namespace": "x"},
        "existing_namespace",
        "applies only to existing_daemon_set",
    ),
    ("DeviceClasses", {"classes": None}, "classes", "must not be empty"),
    (
        "DeviceClasses",
        {"classes": [{"name": "Large"}]},
        "classes[0].name",
        '"Large" isn\'t a valid name; use lowercase',
    ),
    (
        "DeviceClasses",
        {"classes": [{"name": "large"}]},
        "classes[0].selectors",
        "is empty; add the class's selectors",
    ),
    (
        "DeviceClasses",
        classes(name="gpu.nvidia.com"),
        "classes[0].name",
        "the driver's chart already creates the DeviceClass gpu.nvidia.com",
    ),
    (
        "DeviceClasses",
        classes(name="mrdma.google.com"),
        "classes[0].name",
        "DRANET already installs the DeviceClass mrdma.google.com",
    ),
    (
        "DeviceClasses",
        classes(mig_profile="1g.10gb"),
        "classes[0].device",
        "must be mig if mig_profile is set",
    ),
    ("DeviceClasses", classes(selectors=["device."]), "classes[0].selectors[0]", ""),
    (
        "DeviceClasses",
        classes(selectors=['device.capacity["gpu.nvidia.com"].memory >= quantity("40Gi")']),
        "classes[0].selectors[0]",
        "found no matching overload",
    ),
    (
        "DeviceClasses",
        classes(extended_resource_name="a.b/c"),
        "classes[0].extended_resource_name",
        "the field needs 1.36",
    ),
    (
        "DeviceClasses",
        {"classes": [{"name": "a", "device": "gpu"}] * 2},
        "classes[1].name",
        "an earlier class",
    ),
    ("DeviceClasses", classes(memory=1), "classes[0].memory", "isn't an input of DeviceClass"),
    (
        "AdminAccessPolicy",
        {"namespaces": None},
        "namespaces",
        "is missing; use an empty list to allow no namespaces",
    ),
    ("AdminAccessPolicy", {"namespaces": ["A"]}, "namespaces[0]", '"A" is not a namespace'),
    (
        "PlacementPolicies",
        {"plan": None},
        "plan",
        "is missing. Pass the contents of the plan file as one line of JSON",
    ),
    ("PlacementPolicies", {"plan": "[]"}, "plan", "isn't a plan file, because it isn't a mapping"),
    ("PlanGate", {"plan": "nonsense"}, "plan", "isn't valid JSON"),
    ("PlanGate", {"quotas": "yes"}, "quotas", "must be true or false"),
    ("TenantAccess", {"tenants": []}, "tenants", "must not be empty"),
    ("TenantAccess", {"tenants": ["vision"]}, "tenants[0]", 'must be a structure, not "vision"'),
    ("TenantAccess", tenant(groups=[]), "tenants[0].groups", "must not be empty"),
    (
        "TenantAccess",
        tenant(pod_security="privileged"),
        "tenants[0].pod_security",
        "must be baseline or restricted",
    ),
    (
        "TenantAccess",
        tenant(device_quota={"gpu": -1}),
        "tenants[0].device_quota.gpu",
        "must be an integer, not -1",
    ),
    (
        "TenantAccess",
        tenant(create_namespace=False, pod_security="baseline"),
        "tenants[0].pod_security",
        "applies only to a new namespace; label the existing namespace yourself",
    ),
    # DraPlatform
    (
        "DraPlatform",
        {"pools": [{"name": "a100"}]},
        "pools[0].name",
        '"a100" isn\'t a pool in the fleet; use one of: l4, h100',
    ),
    (
        "DraPlatform",
        {"pools": [{"name": "l4", "disk_gib": 1}]},
        "pools[0].disk_gib",
        "set it in the fleet: diskGib",
    ),
    (
        "DraPlatform",
        {"pools": [{"name": "l4", "mig_layout": "x"}]},
        "pools[0].mig_layout",
        "set it in the fleet: mig",
    ),
    (
        "DraPlatform",
        {"pools": [{"name": "l4"}, {"name": "l4"}]},
        "pools[1].name",
        '"l4" appears twice',
    ),
    (
        "DraPlatform",
        {"pools": [{"name": "l4", "placement_group": True}]},
        "pools.l4.placement_group",
        "requires a pool in one zone",
    ),
    (
        "DraPlatform",
        {"cluster": {"region": "eu-west-1"}},
        "cluster.region",
        "isn't an input of ClusterOptions",
    ),
    (
        "DraPlatform",
        {"cluster": {"security_group": "none"}},
        "cluster.security_group",
        "isn't an input of EksCluster",
    ),
    (
        "DraPlatform",
        {"cluster": {"vpc_cidr": "10.0.0.0/8"}},
        "cluster.vpc_cidr",
        "must be between /16 and /20",
    ),
    (
        "DraPlatform",
        {"plan": plan_text("gke-dev")},
        "cluster.security_group",
        "is missing; set it to gke-security-groups@YOUR-DOMAIN, the group",
    ),
    (
        "DraPlatform",
        {"pools": [{"name": "l4", "secure_boot": True}]},
        "pools.l4.secure_boot",
        "isn't an input of EksGpuPool",
    ),
    (
        "DraPlatform",
        {"pools": [{"name": "l4", "efa": True}]},
        "pools.l4.efa",
        "g6.2xlarge doesn't have an EFA interface",
    ),
    (
        "DraPlatform",
        {"driver": {"webhook": "yes"}},
        "driver.webhook",
        'must be true or false, not "yes"',
    ),
    (
        "DraPlatform",
        {"driver": {"compute_domains": True}},
        "driver.compute_domains",
        "needs this value; set it in the fleet",
    ),
    (
        "DraPlatform",
        {"driver": {"feature_gates": {"MPSSupport": True}}},
        "driver.feature_gates",
        "so the plan needs this value; set it in the fleet",
    ),
    (
        "DraPlatform",
        {"driver": {"version": "0.4.1"}},
        "driver.version",
        "isn't an input of DriverOptions",
    ),
    (
        "DraPlatform",
        {"secrets_kms_key": "mine"},
        "cluster.secrets_kms_key",
        "is not the ARN of a KMS key",
    ),
    ("DraPlatform", {"tenants": [{"groups": ["a"]}]}, "tenants[0].namespace", "is missing"),
    (
        "DraPlatform",
        {"plan": plan_text("eks-dev", region="us-east-1a")},
        "plan",
        "is a zone; use region",
    ),
    ("DraPlatform", {"plan": "nonsense"}, "plan", "isn't valid JSON"),
    (
        "DraPlatform",
        {"plan": plan_text("gke-dev", devicePlugin={"version": "0.17.4"})},
        "plan",
        "GKE runs its own device plugin on nodes without DRA; set devicePlugin to false",
    ),
    (
        "DraPlatform",
        {"plan": plan_text("gke-dev"), "admin_principal_arns": ["arn:aws:iam::1:role/a"]},
        "admin_principal_arns",
        "isn't supported on GKE, the cloud of this fleet",
    ),
]


def test_table_covers_every_component() -> None:
    assert len(CASES) >= 60
    assert set(NEEDED) == {component.__name__ for component in hosted_components()}


@pytest.mark.parametrize(
    ("component", "args", "path", "sentence"),
    CASES,
    ids=[f"{case[0]}-{case[2]}-{i}" for i, case in enumerate(CASES)],
)
def test_invalid_input_is_rejected(
    declare: Callable[..., Any], component: str, args: dict[str, Any], path: str, sentence: str
) -> None:
    refused: list[InputPropertiesError] = []

    def make() -> None:
        given = {
            key: value for key, value in {**NEEDED[component], **args}.items() if value is not None
        }
        with pytest.raises(InputPropertiesError) as caught:
            getattr(pulumi_dra, component)("x", given)
        refused.append(caught.value)

    declared = declare(make)
    assert declared.resources == []
    lines = {line.strip() for line in refused[0].message.split("\n")[1:]}
    assert any(line.startswith(f"{path}: ") and sentence in line for line in lines), refused[
        0
    ].message


@pytest.mark.parametrize("component", ["EksGpuPool", "EksKarpenterPool", "GkeGpuPool"])
def test_component_name_that_is_not_a_label_needs_a_pool_name(
    declare: Callable[..., Any], component: str
) -> None:
    def make() -> None:
        with pytest.raises(
            InputPropertiesError,
            match=r"pool_name: is missing, .* \(\"team/gpus\"\) isn't a valid label value",
        ):
            getattr(pulumi_dra, component)("team/gpus", NEEDED[component])
        getattr(pulumi_dra, component)("team/gpus", {**NEEDED[component], "pool_name": "gpus"})

    assert declare(make).resources


def test_all_faults_are_reported_together_in_every_languages_spelling(
    declare: Callable[..., Any],
) -> None:
    def make() -> None:
        with pytest.raises(InputPropertiesError) as caught:
            pulumi_dra.EksGpuPool("l4", {"max_nodes": 0, "disk_gib": 1, "efa": "no"})  # type: ignore[typeddict-item]  # wrong on purpose
        error = caught.value
        assert error.message.startswith('EksGpuPool "l4" has 7 wrong inputs:')
        assert error.errors is not None
        assert {"maxNodes", "diskGib", "efa", "machine", "clusterName"} <= {
            e["property_path"] for e in error.errors
        }
        assert isinstance(error, pulumi.RunError)

    declare(make)
