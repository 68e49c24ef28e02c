"""Inputs of EksCluster and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.clouds import SYSTEM_NODES, public_network_fault
from dra_planner.clouds.eks import CLOUD
from pulumi_dra.eks.access.access_entries import Entry, read_access_entries, read_admins
from pulumi_dra.eks.access.credentials import Credentials
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
    "zone_count",
    "zones",
    "vpc_cidr",
    "single_nat_gateway",
    "nat_gateways",
    "interface_endpoints",
    "subnet_tags",
)


class EksClusterArgs(TypedDict):
    """Inputs of EksCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later. DRA needs resource.k8s.io/v1."""
    cluster_name: NotRequired[str]
    """Name of the cluster. If you set a name, the component also creates the log group with a
    retention period, and deletes the log group after the cluster. Default: a name that Pulumi
    generates. Then the old and the new cluster can exist at the same time during a replacement, and
    EKS creates and keeps the log group.
    """
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """IAM role of the control plane. For an imported cluster, set its current role, because
    changing the role replaces the cluster. Default: a new role.
    """
    log_retention_days: NotRequired[int]
    """Number of days to keep the control plane's logs. Used only with cluster_name. Default: 365.
    """
    public_access_cidrs: NotRequired[list[str]]
    """Networks from which clients can reach the API server, for example 203.0.113.0/24. If empty,
    the cluster has only the private endpoint, so run `pulumi up` inside the network.
    """
    zone_count: NotRequired[int]
    """Number of zones in a new network, 2 to 6, starting with the region's first zones by name.
    Default: 2 if `zones` is empty.
    """
    zones: NotRequired[list[str]]
    """Names of the new network's zones (us-east-1a), in addition to `zone_count`. Adding a zone or
    increasing the count adds subnets and doesn't change existing subnets.
    """
    subnet_ids: NotRequired[pulumi.Input[list[pulumi.Input[str]]]]
    """Existing private subnets with outbound access, in at least two zones. Default: the subnets of
    a new network.
    """
    vpc_cidr: NotRequired[str]
    """Address range for a new network, /16 to /20. Default: 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """Use one NAT gateway for all zones of a new network instead of one for each zone. Default:
    false.
    """
    nat_gateways: NotRequired[bool]
    """Provide internet access for nodes in a new network. If false, nodes reach AWS only through
    `interface_endpoints`, and all images must be in a registry that the nodes can reach (ECR).
    Default: true.
    """
    interface_endpoints: NotRequired[list[str]]
    """AWS services for which a new network has an endpoint, by the last part of the service name
    (ssm, sqs, autoscaling). Without NAT gateways, the component also adds the endpoints that EKS
    nodes need. Default: none.
    """
    admin_principal_arns: NotRequired[list[pulumi.Input[str]]]
    """IAM roles or users that administer the cluster. Use a role that everyone who runs Pulumi can
    assume. Default: the identity that creates the cluster, through an access entry that you can
    remove.
    """
    access_entries: NotRequired[list[AccessEntry]]
    """Additional access to the cluster: IAM roles or users with an EKS access policy, in namespaces
    or everywhere, or with RBAC groups. Default: none.
    """
    service_cidr: NotRequired[str]
    """Service CIDR, /12 to /24, outside the address ranges of the network. Changing this value
    replaces the cluster. Default: the EKS default, 10.100.0.0/16 or 172.20.0.0/16.
    """
    control_plane_tier: NotRequired[str]
    """Provisioned size of the control plane: standard, tier-xl, tier-2xl, tier-4xl, or tier-8xl.
    Each tier has its own price. To return to the standard tier, set standard, because the cluster
    keeps its tier if you remove this input. Default: standard in a new cluster.
    """
    kubeconfig_role_arn: NotRequired[pulumi.Input[str]]
    """IAM role that the kubeconfig assumes. Default: the role of the default provider
    (aws:assumeRoles), or none with an explicit provider.
    """
    kubeconfig_profile: NotRequired[str]
    """AWS CLI profile in the kubeconfig. Default: the profile of the default provider
    (aws:profile).
    """
    secrets_kms_key: NotRequired[pulumi.Input[str]]
    """Key that encrypts Kubernetes Secrets. Default: a new key that rotates."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Key that encrypts the root volumes of system nodes. The account must already have an Auto
    Scaling group, because the service-linked role of Auto Scaling uses the key. Default: the
    account's key for EBS.
    """
    grant_key_use: NotRequired[bool]
    """If disk_kms_key is set, allow EC2 Auto Scaling, which starts the nodes, to use the key. Set
    to false if the key policy already allows this. Default: true.
    """
    addon_versions: NotRequired[dict[str, str]]
    """Versions of vpc-cni, kube-proxy, coredns, eks-pod-identity-agent, and the optional add-ons:
    "v1.20.4-eksbuild.1", or "most-recent". Default: the version that EKS recommends for the
    Kubernetes version when the add-on is created.
    """
    addon_settings: NotRequired[dict[str, str]]
    """Settings of add-ons as JSON, by add-on name: coredns: '{"replicaCount": 3}'. `aws eks
    describe-addon-configuration` prints the schema of an add-on. network_policy and
    prefix_delegation take precedence. Default: none.
    """
    network_policy: NotRequired[bool]
    """Enforce NetworkPolicies with the VPC CNI. Default: true."""
    prefix_delegation: NotRequired[bool]
    """Assign whole prefixes to network interfaces, so that more pods fit on a node. Default: false.
    """
    node_monitoring: NotRequired[bool]
    """Install the eks-node-monitoring-agent add-on, which reports broken GPUs, so that EKS can
    repair nodes in pools with node_repair. The agent's pods also run on GPU nodes, so add them to
    daemonPods in the fleet. Default: false.
    """
    storage_drivers: NotRequired[list[str]]
    """Add-ons that create and mount volumes: ebs, efs, fsx. Each add-on has its own role. The pods
    of these add-ons also run on GPU nodes, so add them to daemonPods in the fleet. Default: none.
    """
    metrics_server: NotRequired[bool]
    """Install the metrics-server add-on, for `kubectl top` and HorizontalPodAutoscalers. Default:
    false.
    """
    system_machine: NotRequired[str]
    """Machine type for the system nodes. Default: m7i.large."""
    system_count: NotRequired[int]
    """Number of system nodes. Default: 2."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """Permissions boundary of all created roles, for accounts that require one. Default: none."""
    node_policy_arns: NotRequired[list[pulumi.Input[str]]]
    """Additional policies for the node role, for example AmazonSSMManagedInstanceCore for access
    through Session Manager. The role always has the two policies that nodes need. Default: none.
    """
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional tags on the private subnets of a new network, by which other tools can find the
    subnets (karpenter.sh/discovery). Default: none.
    """
    support_type: NotRequired[str]
    """Behavior at the end of a version's standard support: EXTENDED (support for one more year at a
    higher price) or STANDARD (EKS upgrades the cluster). To change the policy, set the other value,
    because the cluster keeps the current policy if you remove this input. Default: EXTENDED in a
    new cluster.
    """
    zonal_shift: NotRequired[bool]
    """Allow you and AWS to move traffic away from a failing zone. During a shift, EKS doesn't
    repair nodes. To disable zonal shift, set this input to false. EKS rejects an update that only
    removes the input. Default: false in a new cluster.
    """
    deletion_protection: NotRequired[bool]
    """Prevent EKS and Pulumi from deleting the cluster, and prevent Pulumi from replacing the
    cluster. Default: false.
    """
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all taggable resources."""


class EksClusterInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs with default values. None means that the component creates the part."""

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
    service_cidr: str  # "" for the EKS default
    control_plane_tier: str  # "" for the cluster's own
    credentials: Credentials | None  # None for the default provider's
    secrets_kms_key: pulumi.Input[str] | None
    disk_kms_key: pulumi.Input[str] | None
    grant_key_use: bool
    addons: AddonInputs
    system_machine: str
    system_count: int
    permissions_boundary_arn: pulumi.Input[str] | None
    node_policy_arns: list[pulumi.Input[str]]
    subnet_tags: dict[str, pulumi.Input[str]]
    support_type: str  # "" for the cluster's own
    zonal_shift: bool | None  # None for the cluster's own
    deletion_protection: bool
    tags: dict[str, pulumi.Input[str]]


def read_cluster_inputs(read: InputReader) -> EksClusterInputs:
    """Return the checked inputs, and record errors in `read`."""
    subnet_ids = read.identifiers("subnet_ids")
    if read.has("subnet_ids"):
        for key in OF_A_NEW_NETWORK:
            if read.has(key):
                read.refuse(
                    key,
                    ("applies only to a new network, but subnet_ids refer to an existing network"),
                )
        if isinstance(subnet_ids, list) and len(subnet_ids) < 2:
            read.refuse(
                "subnet_ids", "must contain at least two subnets, because EKS needs two zones"
            )
    admins = read_admins(read)
    zones, zone_count = read_zones(read)
    return EksClusterInputs(
        kubernetes_version=read.text("kubernetes_version", check=version_check(CLOUD)),
        cluster_name=read.text(
            "cluster_name",
            "",
            pattern=r"[0-9A-Za-z][-_0-9A-Za-z]{0,99}",
            meaning="a cluster name of at most 100 letters, digits, -, and _",
        ),
        cluster_role_arn=read.identifier(
            "cluster_role_arn", pattern="arn:.+:role/.+", meaning="the ARN of a role"
        ),
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
        control_plane_tier=read.choice("control_plane_tier", TIERS, "")
        if read.has("control_plane_tier")
        else "",
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
        support_type=read.choice("support_type", ("EXTENDED", "STANDARD"), "")
        if read.has("support_type")
        else "",
        zonal_shift=read.flag("zonal_shift", False) if read.has("zonal_shift") else None,
        deletion_protection=read.flag("deletion_protection", False),
        tags=read_role_tags(read),
    )


def _address_fault(cidr: str) -> str:
    return public_network_fault(cidr) or CLOUD.address_fault(cidr)


def _read_credentials(read: InputReader) -> Credentials | None:
    role = read.identifier(
        "kubeconfig_role_arn", pattern="arn:.+:role/.+", meaning="the ARN of a role"
    )
    profile = read.text("kubeconfig_profile", "")
    return (
        Credentials(role_arn=role or "", profile=profile) if role is not None or profile else None
    )


def _read_service_cidr(read: InputReader) -> str:
    """EKS API reference, KubernetesNetworkConfigRequest: a private /12 to /24 that doesn't overlap
    the VPC's.
    """
    given = read.text("service_cidr", "", check=check_service_cidr)
    network = read.text("vpc_cidr", "10.0.0.0/16") if not read.has("subnet_ids") else ""
    if (
        given
        and network
        and not check_service_cidr(given)
        and not check_vpc_cidr(network)
        and overlap(given, network)
    ):
        read.refuse("service_cidr", f'"{given}" overlaps the network, "{network}"')
    return given


def _read_retention(read: InputReader) -> int:
    days = read.whole("log_retention_days", 365)
    if days not in RETENTION_DAYS:
        read.refuse(
            "log_retention_days",
            f"must be one of {', '.join(map(str, RETENTION_DAYS))}, not {days}",
        )
    if read.has("log_retention_days") and not read.has("cluster_name"):
        read.refuse(
            "log_retention_days",
            "requires cluster_name, because this component manages the log group only if you set "
            "the cluster's name",
        )
    return days
