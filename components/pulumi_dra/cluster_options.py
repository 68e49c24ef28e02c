"""What DraPlatform takes for the cluster beside the fleet."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi

from pulumi_dra.access_entry import AccessEntry
from pulumi_dra.inputs import InputReader
from pulumi_dra.maintenance import MaintenanceExclusion


class ClusterOptions(TypedDict):
    """What a fleet does not say about a cluster; its cloud's component says what each input means."""

    cluster_name: NotRequired[str]
    """Name of the cluster; on EKS its log group is then declared too. Default: one that Pulumi makes."""
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: role of the control plane, which a cluster that is taken over keeps. Default: a new one."""
    kubeconfig_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: IAM role that the kubeconfig takes. Default: the one that the default provider assumes."""
    kubeconfig_profile: NotRequired[str]
    """EKS: profile of the AWS CLI that the kubeconfig names. Default: that of the default provider."""
    resource_group_name: NotRequired[pulumi.Input[str]]
    """AKS: existing resource group. Default: a new one."""
    dns_prefix: NotRequired[str]
    """AKS: how the API server's name begins. Default: made of the platform's name."""
    node_resource_group: NotRequired[str]
    """AKS: name of the resource group that AKS makes for nodes. Default: made of the names of group and platform."""
    keep_pools: NotRequired[bool]
    """AKS, with cluster_name: whether the cluster is taken over and its own pools stay as they are. Default false."""
    identity_id: NotRequired[pulumi.Input[str]]
    """AKS: existing identity of the cluster, with identity_principal_id. Default: a new one."""
    identity_principal_id: NotRequired[pulumi.Input[str]]
    """AKS: principal of identity_id."""
    outbound_type: NotRequired[str]
    """AKS, in an existing subnet: how nodes go out. Default Azure's load balancer."""
    admin_group_object_ids: NotRequired[list[str]]
    """AKS: groups in Entra ID that administer the cluster. Default: who first creates it, alone."""
    deployer_type: NotRequired[str]
    """AKS, without groups: what first creates the cluster is in Entra ID, User (default) or ServicePrincipal."""
    kubelogin: NotRequired[str]
    """AKS: how the kubeconfig gets a token: azurecli (default), devicecode, interactive, msi, spn, workloadidentity."""
    upgrade_channel: NotRequired[str]
    """AKS: what is upgraded by itself: patch (default), node-image or none."""
    maintenance_day: NotRequired[str]
    """AKS: day of the week on which AKS upgrades. Default Sunday."""
    secrets_key_vault_id: NotRequired[pulumi.Input[str]]
    """AKS: id of the vault of secrets_kms_key, which the cluster's identity is given a role on."""
    disk_encryption_set_id: NotRequired[pulumi.Input[str]]
    """AKS: id of a disk encryption set with a key of one's own. Default: Azure's own key."""
    encryption_at_host: NotRequired[bool]
    """AKS: whether the hosts of system nodes encrypt disks and caches. Default true."""
    log_workspace_id: NotRequired[pulumi.Input[str]]
    """AKS: existing Log Analytics workspace. Default: a new one."""
    defender: NotRequired[bool]
    """AKS: whether Microsoft Defender watches the nodes. Default true."""
    dns_endpoint: NotRequired[bool]
    """GKE: whether the API server is reached by its DNS name from outside the network too, by who has the permission
    container.clusters.connect. Default false."""
    log_retention_days: NotRequired[int]
    """How many days the control plane's logs are kept: EKS, with cluster_name, 365 by default; AKS 90."""
    vpc_cidr: NotRequired[str]
    """EKS: address range of a new network, a /16 to a /20. Default 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """EKS: one NAT gateway for all zones of a new network instead of one in each. Default false."""
    access_entries: NotRequired[list[AccessEntry]]
    """EKS: who else may use the cluster, with one of EKS' policies or with groups. Default none."""
    service_cidr: NotRequired[str]
    """EKS and AKS: range of the services. Default the cloud's own."""
    control_plane_tier: NotRequired[str]
    """EKS: size of the control plane that is always there. Default standard."""
    global_access: NotRequired[bool]
    """GKE: whether the private endpoint is reached from other regions of the network too. Default false."""
    nodes_cidr: NotRequired[str]
    """GKE: range of the nodes in a new network. Default 10.0.0.0/20."""
    pods_cidr: NotRequired[str]
    """Range of the pods, a /24 for each node: GKE's in a new network, 10.4.0.0/14 by default; AKS's 10.244.0.0/16."""
    services_cidr: NotRequired[str]
    """GKE: range of the services in a new network. Default 10.8.0.0/20."""
    nat_gateways: NotRequired[bool]
    """EKS: whether nodes of a new network have a way to the internet; without it AWS is reached by endpoints in the
    VPC, and every image comes from a registry that nodes reach. Default true."""
    interface_endpoints: NotRequired[list[str]]
    """EKS: AWS services that get an endpoint in a new network, beside those that are needed without NAT gateways, by
    the last part of their names (ssm, autoscaling). Default none."""
    addon_settings: NotRequired[dict[str, str]]
    """EKS: settings of add-ons as JSON, by name: coredns: '{"replicaCount": 3}'. Default none."""
    network_policy: NotRequired[bool]
    """EKS: whether the VPC CNI enforces NetworkPolicy. Default true."""
    node_monitoring: NotRequired[bool]
    """EKS: whether an add-on tells broken GPUs, which pools with node_repair are repaired by. Default: where one is."""
    storage_drivers: NotRequired[list[str]]
    """Drivers that make and mount volumes. EKS: the add-ons ebs, efs, fsx. GKE: filestore, gcs-fuse, lustre, beside its
    disks'. Default none."""
    metrics_server: NotRequired[bool]
    """EKS: whether the add-on metrics-server is installed. Default false."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """EKS: policy that bounds every role that is made. Default none."""
    node_policy_arns: NotRequired[list[pulumi.Input[str]]]
    """EKS: further policies of the nodes' role, AmazonSSMManagedInstanceCore for example. Default none."""
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """EKS: further tags on the private subnets of a new network. Default none."""
    support_type: NotRequired[str]
    """EKS: what happens at the end of a version's standard support, EXTENDED or STANDARD. Default: EKS'."""
    zonal_shift: NotRequired[bool]
    """EKS: whether traffic may be shifted away from a zone that fails. Default false."""
    maintenance_start: NotRequired[str]
    """When, in UTC, the cloud may begin to work on the cluster (03:00): GKE every day, AKS on its maintenance_day."""
    security_group: NotRequired[str]
    """GKE, and needed there: the Google group gke-security-groups@YOUR-DOMAIN, whose members and subgroups RBAC may
    name; or none, so that it is on record that roles are bound to single accounts."""
    release_channel: NotRequired[str]
    """GKE: release channel, RAPID, REGULAR (default), STABLE or EXTENDED, or none."""
    maintenance_exclusions: NotRequired[list[MaintenanceExclusion]]
    """GKE: times in which nothing is upgraded."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """GKE: Cloud KMS key that encrypts the boot disks of system nodes. Default: Google's own key."""
    disk_kms_key_arn: NotRequired[pulumi.Input[str]]
    """EKS: key that encrypts the root volumes of system nodes. Default: the account's key for EBS."""
    grant_key_use: NotRequired[bool]
    """With keys of one's own: whether the cloud's services are granted their use. Default true."""
    network_id: NotRequired[pulumi.Input[str]]
    """GKE: existing network; with subnetwork_id, pods_range_name and services_range_name."""
    subnetwork_id: NotRequired[pulumi.Input[str]]
    """GKE: existing subnet."""
    pods_range_name: NotRequired[pulumi.Input[str]]
    """GKE: name of the subnet's secondary range for pods."""
    services_range_name: NotRequired[pulumi.Input[str]]
    """GKE: name of the subnet's secondary range for services."""


def read_cluster_options(
    read: InputReader, names: Mapping[str, str], title: str, tags: dict[str, pulumi.Input[str]], *, node_repair: bool
) -> dict[str, Any]:
    """Return inputs of the cloud's cluster that are not the fleet's, under the `names` that its component has.

    What the options mean is checked with the cluster's other inputs.
    """
    options = read.block("cluster")
    read.inside("cluster", options, ClusterOptions)
    cluster: dict[str, Any] = {"deletion_protection": read.flag("deletion_protection", False)}
    given: dict[str, Any] = {
        "tags": tags,
        "secrets_kms_key": read.identifier("secrets_kms_key"),
        "admin_principal_arns": read.identifiers("admin_principal_arns") if read.has("admin_principal_arns") else None,
        "addon_versions": read.labels("addon_versions") if read.has("addon_versions") else None,
        "node_repair": True if node_repair else None,
    }
    for name, value in given.items():
        if value is not None and name in names:
            cluster[names[name]] = value
        elif value is not None and read.has(name):
            read.refuse(name, f"is not for {title}, where this fleet is")
    return cluster | {key: value for key, value in options.items() if key in ClusterOptions.__annotations__}
