"""Inputs of EksCluster: what they are, and what is wrong with them."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import pulumi

from dra_planner.clouds import SYSTEM_NODES, public_network_fault
from dra_planner.clouds.eks import CLOUD
from pulumi_dra.eks.access.credentials import Credentials
from pulumi_dra.eks.access.entries import Entry, read_access_entries, read_admins
from pulumi_dra.eks.cluster.addon_inputs import AddonInputs, read_addons
from pulumi_dra.eks.cluster.control_plane_logs import RETENTION_DAYS
from pulumi_dra.eks.naming import read_role_tags, read_tags
from pulumi_dra.eks.network.address_plan import check_service_cidr, check_vpc_cidr, overlap
from pulumi_dra.eks.network.endpoints import WayOut, read_way_out
from pulumi_dra.eks.network.network import read_zones
from pulumi_dra.eks.rights.key_grants import read_volume_key
from pulumi_dra.eks.rights.keys import read_secrets_key
from pulumi_dra.eks.rights.permissions_boundary import read_boundary
from pulumi_dra.inputs.access_entry import AccessEntry
from pulumi_dra.inputs.key_inputs import read_key_grant
from pulumi_dra.inputs.kubernetes_version import version_check
from pulumi_dra.inputs.reader import InputReader

# EKS API reference, ControlPlaneScalingConfig.
TIERS = ("standard", "tier-xl", "tier-2xl", "tier-4xl", "tier-8xl")
OF_A_NEW_NETWORK = (
    "zone_count", "zones", "vpc_cidr", "single_nat_gateway", "nat_gateways", "interface_endpoints", "subnet_tags",
)  # fmt: skip


class EksClusterArgs(TypedDict):
    """Inputs of EksCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later: DRA needs resource.k8s.io/v1."""
    cluster_name: NotRequired[str]
    """Name of the cluster. Default: one that Pulumi makes, so that a replacement can stand beside the old cluster, and
    a log group that EKS makes and keeps. With a name of one's own that group is declared too: it ends what it keeps and
    goes after the cluster."""
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """Role of the control plane, which a cluster that is taken over keeps: another would replace it. Default: a new
    one."""
    log_retention_days: NotRequired[int]
    """With cluster_name: how many days the control plane's logs are kept. Default 365."""
    public_access_cidrs: NotRequired[list[str]]
    """Networks that may reach the API server from outside (203.0.113.0/24). None: no public endpoint at all, and
    whoever runs `pulumi up` must be inside the network. The private endpoint is always there."""
    zone_count: NotRequired[int]
    """How many of the region's first zones, by name, a new network spans: 2 to 6. Default 2 where `zones` names
    none."""
    zones: NotRequired[list[str]]
    """Zones that a new network spans by name (us-east-1a), beside those of `zone_count`. A further one, or a greater
    count, adds subnets and leaves those that are there."""
    subnet_ids: NotRequired[pulumi.Input[list[pulumi.Input[str]]]]
    """Existing private subnets in two zones or more, with a way out; no network is made then."""
    vpc_cidr: NotRequired[str]
    """Address range of a new network, a /16 to a /20. Default 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """One NAT gateway for all zones of a new network instead of one in each. Default false."""
    nat_gateways: NotRequired[bool]
    """Whether nodes of a new network have a way to the internet. False: AWS is reached by `interface_endpoints` alone,
    and every image must come from a registry that nodes reach (ECR). Default true."""
    interface_endpoints: NotRequired[list[str]]
    """AWS services that get an endpoint in a new network, by the last part of their names (ssm, sqs, autoscaling).
    Without NAT gateways those that EKS nodes need come by themselves. Default none."""
    admin_principal_arns: NotRequired[list[pulumi.Input[str]]]
    """IAM roles or users that administer the cluster. Default: the one who first creates it, as an entry of its own
    that can be seen and removed. Name a role that whoever deploys can take."""
    access_entries: NotRequired[list[AccessEntry]]
    """Who else may use the cluster: IAM roles or users with one of EKS' policies, in namespaces or everywhere, or with
    groups that RBAC names. Default none."""
    service_cidr: NotRequired[str]
    """Range of the services, a /12 to a /24, beside those of the network; another one replaces the cluster. Default
    EKS' own: 10.100.0.0/16 or 172.20.0.0/16."""
    control_plane_tier: NotRequired[str]
    """Size of the control plane that is always there: standard (default), tier-xl, tier-2xl, tier-4xl or tier-8xl, at a
    price of its own."""
    kubeconfig_role_arn: NotRequired[pulumi.Input[str]]
    """IAM role that the kubeconfig takes. Default: the one that the default provider assumes (aws:assumeRoles); with a
    provider of one's own none."""
    kubeconfig_profile: NotRequired[str]
    """Profile of the AWS CLI that the kubeconfig names. Default: that of the default provider (aws:profile)."""
    secrets_kms_key: NotRequired[pulumi.Input[str]]
    """Key that encrypts Kubernetes secrets. Default: a new one that rotates."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Key that encrypts the root volumes of system nodes; the account must have had an Auto Scaling group, whose
    service-linked role uses the key. Default: the account's key for EBS."""
    grant_key_use: NotRequired[bool]
    """With disk_kms_key: whether EC2 Auto Scaling, which starts the nodes, is granted the use of the key. False
    where the policy of the key does. Default true."""
    addon_versions: NotRequired[dict[str, str]]
    """Versions of the add-ons vpc-cni, kube-proxy, coredns and eks-pod-identity-agent, and of those that are asked for:
    "v1.20.4-eksbuild.1", or "most-recent". Default: what EKS recommends for the Kubernetes version when the add-on is
    created."""
    addon_settings: NotRequired[dict[str, str]]
    """Settings of the same add-ons as JSON, by name: coredns: '{"replicaCount": 3}'. EKS has a schema for each
    (`aws eks describe-addon-configuration`). What network_policy and prefix_delegation say stays. Default none."""
    network_policy: NotRequired[bool]
    """Whether the VPC CNI enforces NetworkPolicy. Default true."""
    prefix_delegation: NotRequired[bool]
    """Whether the VPC CNI gives interfaces whole prefixes, for more pods on a node. Default false."""
    node_monitoring: NotRequired[bool]
    """Whether the add-on eks-node-monitoring-agent tells broken GPUs, which pools with node_repair are repaired by. Its
    pods run on GPU nodes too: a fleet names them in daemonPods. Default false."""
    storage_drivers: NotRequired[list[str]]
    """Add-ons that make and mount volumes: ebs, efs, fsx, each with a role of its own. Their pods run on GPU nodes too:
    a fleet names them in daemonPods. Default none."""
    metrics_server: NotRequired[bool]
    """Whether the add-on metrics-server answers `kubectl top` and HorizontalPodAutoscalers. Default false."""
    system_machine: NotRequired[str]
    """Machine type of the nodes without GPUs. Default m7i.large."""
    system_count: NotRequired[int]
    """How many nodes without GPUs. Default 2."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """Policy that bounds every role that is made, where an account has roles made with one alone. Default none."""
    node_policy_arns: NotRequired[list[pulumi.Input[str]]]
    """Further policies of the nodes' role, beside the two that a node needs: AmazonSSMManagedInstanceCore for a way in
    by Session Manager. Default none."""
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Further tags on the private subnets of a new network, by which other tools find them (karpenter.sh/discovery).
    Default none."""
    support_type: NotRequired[str]
    """What happens at the end of a version's standard support: EXTENDED (a higher price for a year) or STANDARD (EKS
    upgrades the cluster). Default: EKS', which is EXTENDED."""
    zonal_shift: NotRequired[bool]
    """Whether traffic may be shifted away from a zone that fails, by hand or by AWS; node repair stops meanwhile.
    Default false."""
    deletion_protection: NotRequired[bool]
    """Whether EKS refuses to delete the cluster, and Pulumi to delete or replace it. Default false."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags on everything that takes tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksClusterInputs:
    """The same, checked, with defaults filled in; None where the component makes its own."""

    kubernetes_version: str
    cluster_name: str
    cluster_role_arn: pulumi.Input[str] | None
    log_retention_days: int
    public_access_cidrs: list[str]
    zone_count: int
    zones: list[str]
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]] | None
    vpc_cidr: str
    way_out: WayOut
    admin_principal_arns: pulumi.Input[list[pulumi.Input[str]]] | None
    access_entries: list[Entry]
    service_cidr: str  # "" for EKS' own
    control_plane_tier: str
    credentials: Credentials | None  # None for those of the default provider
    secrets_kms_key: pulumi.Input[str] | None
    disk_kms_key: pulumi.Input[str] | None
    grant_key_use: bool
    addons: AddonInputs
    system_machine: str
    system_count: int
    permissions_boundary_arn: pulumi.Input[str] | None
    node_policy_arns: list[pulumi.Input[str]]
    subnet_tags: dict[str, pulumi.Input[str]]
    support_type: str  # "" for EKS' own default
    zonal_shift: bool
    deletion_protection: bool
    tags: dict[str, pulumi.Input[str]]


def read_cluster_inputs(read: InputReader) -> EksClusterInputs:
    """Return the checked inputs; faults are noted in `read`."""
    subnet_ids = read.identifiers("subnet_ids")
    if read.has("subnet_ids"):
        for key in OF_A_NEW_NETWORK:
            if read.has(key):
                read.refuse(key, "is for a new network; subnet_ids name an existing one")
        if isinstance(subnet_ids, list) and len(subnet_ids) < 2:
            read.refuse("subnet_ids", "must name at least two subnets: EKS needs two zones")
    admins = read_admins(read)
    zones, zone_count = read_zones(read)
    return EksClusterInputs(
        kubernetes_version=read.text("kubernetes_version", check=version_check(CLOUD)),
        cluster_name=read.text(
            "cluster_name",
            "",
            pattern=r"[0-9A-Za-z][-_0-9A-Za-z]{0,99}",
            meaning="the name of a cluster: letters, digits, - and _, at most 100",
        ),
        cluster_role_arn=read.identifier("cluster_role_arn", pattern="arn:.+:role/.+", meaning="the ARN of a role"),
        log_retention_days=_read_retention(read),
        public_access_cidrs=read.texts("public_access_cidrs", check=_address_fault),
        zone_count=zone_count,
        zones=zones,
        subnet_ids=subnet_ids if read.has("subnet_ids") else None,
        vpc_cidr=read.text("vpc_cidr", "10.0.0.0/16", check=check_vpc_cidr),
        way_out=read_way_out(read),
        admin_principal_arns=admins,
        access_entries=read_access_entries(read, admins),
        service_cidr=_read_service_cidr(read),
        control_plane_tier=read.choice("control_plane_tier", TIERS, TIERS[0]),
        credentials=_read_credentials(read),
        secrets_kms_key=read_secrets_key(read),
        disk_kms_key=read_volume_key(read),
        grant_key_use=read_key_grant(read, "disk_kms_key"),
        addons=read_addons(read),
        system_machine=read.text("system_machine", CLOUD.system_machine),
        system_count=read.whole("system_count", 2, least=SYSTEM_NODES[0], most=SYSTEM_NODES[-1]),
        permissions_boundary_arn=read_boundary(read),
        node_policy_arns=read.some_identifiers(
            "node_policy_arns", pattern="arn:.+:iam::.*:policy/.+", meaning="the ARN of a policy"
        ),
        subnet_tags=read_tags(read, "subnet_tags"),
        support_type=read.choice("support_type", ("EXTENDED", "STANDARD"), "") if read.has("support_type") else "",
        zonal_shift=read.flag("zonal_shift", False),
        deletion_protection=read.flag("deletion_protection", False),
        tags=read_role_tags(read),
    )


def _address_fault(cidr: str) -> str:
    return public_network_fault(cidr) or CLOUD.address_fault(cidr)


def _read_credentials(read: InputReader) -> Credentials | None:
    role = read.identifier("kubeconfig_role_arn", pattern="arn:.+:role/.+", meaning="the ARN of a role")
    profile = read.text("kubeconfig_profile", "")
    return Credentials(role_arn=role or "", profile=profile) if role is not None or profile else None


def _read_service_cidr(read: InputReader) -> str:
    """EKS API reference, KubernetesNetworkConfigRequest: private, a /12 to a /24, not over the VPC's."""
    given = read.text("service_cidr", "", check=check_service_cidr)
    network = read.text("vpc_cidr", "10.0.0.0/16") if not read.has("subnet_ids") else ""
    if given and network and not check_service_cidr(given) and not check_vpc_cidr(network) and overlap(given, network):
        read.refuse("service_cidr", f'"{given}" overlaps the network, "{network}"')
    return given


def _read_retention(read: InputReader) -> int:
    days = read.whole("log_retention_days", 365)
    if days not in RETENTION_DAYS:
        read.refuse("log_retention_days", f"must be one of {', '.join(map(str, RETENTION_DAYS))}, not {days}")
    if read.has("log_retention_days") and not read.has("cluster_name"):
        read.refuse("log_retention_days", "is for cluster_name: the log group of a name that EKS makes is not ours")
    return days
