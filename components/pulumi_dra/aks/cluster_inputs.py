"""Inputs of AksCluster and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.clouds import SYSTEM_NODES, public_network_fault
from dra_planner.clouds.aks import CLOUD
from dra_planner.clouds.aks.network import ranges_fault, subnet_fault
from pulumi_dra.aks.address_ranges import ServiceRanges, read_ranges
from pulumi_dra.aks.kubeconfig import LOGINS
from pulumi_dra.aks.naming import read_tags
from pulumi_dra.aks.zones import read_zones
from pulumi_dra.inputs.key_inputs import read_key_grant
from pulumi_dra.inputs.kubernetes_version import version_check
from pulumi_dra.inputs.reader import InputReader

UPGRADE_CHANNELS = ("patch", "node-image", "none")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PROVIDERS = r"(?i)/subscriptions/[^/]+/resourceGroups/[^/]+/providers"
OUTBOUND_TYPES = ("loadBalancer", "userAssignedNATGateway", "userDefinedRouting", "none")
IDENTITY = rf"{_PROVIDERS}/Microsoft\.ManagedIdentity/userAssignedIdentities/[^/]+"
NAMES = {
    "cluster_name": (
        "[a-zA-Z0-9]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?",
        "a name of at most 63 letters, digits, hyphens, and underscores that doesn't begin or "
        "end with a hyphen",
    ),
    "dns_prefix": (
        "[a-zA-Z0-9]([a-zA-Z0-9-]{0,52}[a-zA-Z0-9])?",
        "a prefix of at most 54 letters, digits, and hyphens that doesn't begin or end with a "
        "hyphen",
    ),
    "node_resource_group": (
        r"[\w().-]{0,79}[\w()-]",
        (
            "a resource group name of at most 80 letters, digits, and characters from "
            '"_-()." that doesn\'t end with a period'
        ),
    ),
}
NODE_OS_CHANNELS = ("SecurityPatch", "NodeImage", "Unmanaged", "None")
AUTOSCALER_SETTINGS = (
    "balance-similar-node-groups",
    "expander",
    "max-empty-bulk-delete",
    "max-graceful-termination-sec",
    "max-node-provision-time",
    "max-total-unready-percentage",
    "new-pod-scale-up-delay",
    "ok-total-unready-count",
    "scale-down-delay-after-add",
    "scale-down-delay-after-delete",
    "scale-down-delay-after-failure",
    "scale-down-unneeded-time",
    "scale-down-unready-time",
    "scale-down-utilization-threshold",
    "scan-interval",
    "skip-nodes-with-local-storage",
    "skip-nodes-with-system-pods",
)
"""Azure REST API, Managed Clusters, 2025-09-01: autoScalerProfile."""
DEPLOYERS = ("User", "ServicePrincipal")
KEY = r"https://[a-zA-Z0-9-]+\.vault\.[a-z.-]+/keys/[a-zA-Z0-9-]+/[0-9a-zA-Z]+"
KEY_MEANING = "a Key Vault key with its version (https://VAULT.vault.azure.net/keys/NAME/VERSION)"
VAULT = rf"{_PROVIDERS}/Microsoft\.KeyVault/vaults/[^/]+"
DISK_SET = rf"{_PROVIDERS}/Microsoft\.Compute/diskEncryptionSets/[^/]+"
DISK_SET_MEANING = (
    "the ID of a disk encryption set (/subscriptions/…/Microsoft.Compute/diskEncryptionSets/NAME)"
)


class AksClusterArgs(TypedDict):
    """Inputs of AksCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later. DRA needs resource.k8s.io/v1."""
    location: str
    """Region, for example eastus."""
    resource_group_name: NotRequired[pulumi.Input[str]]
    """Existing resource group. Default: a new resource group."""
    cluster_name: NotRequired[str]
    """Name of the cluster. Default: a name that Pulumi generates."""
    dns_prefix: NotRequired[str]
    """Prefix of the API server's DNS name. Changing this value replaces the cluster. Default: based
    on the name of the component.
    """
    node_resource_group: NotRequired[str]
    """Name of the resource group that AKS creates for nodes. Changing this value replaces the
    cluster. Default: based on the names of the resource group and the component.
    """
    keep_pools: NotRequired[bool]
    """Set to true, together with cluster_name, if you imported the cluster. The component then
    keeps the cluster's pools and all settings that aren't inputs here, and creates a separate pool
    for the system nodes. Default: false.
    """
    identity_id: NotRequired[pulumi.Input[str]]
    """Existing identity for the cluster, with the Network Contributor role on the subnet. Also set
    identity_principal_id. Default: a new identity with this role.
    """
    identity_principal_id: NotRequired[pulumi.Input[str]]
    """Principal ID of the identity in identity_id."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """Existing subnet for the nodes. Default: the subnet of a new network."""
    outbound_type: NotRequired[str]
    """Outbound path of nodes in the subnet in subnet_id: loadBalancer (default),
    userAssignedNATGateway, userDefinedRouting, or none. Changing this value replaces the cluster. A
    new network has a NAT gateway.
    """
    pods_cidr: NotRequired[str]
    """Pod CIDR, with a /24 per node. Changing this value replaces the cluster. Default: AKS'
    10.244.0.0/16.
    """
    service_cidr: NotRequired[str]
    """Service CIDR, which must not overlap the network of an existing subnet. Changing this value
    replaces the cluster. Default: the AKS default, 10.0.0.0/16.
    """
    public_access_cidrs: NotRequired[list[str]]
    """Networks from which clients can reach the API server, for example 203.0.113.0/24. If empty,
    the cluster is private, so run `pulumi up` inside its network.
    """
    admin_group_object_ids: NotRequired[list[str]]
    """Entra ID groups that administer the cluster. Default: only the identity that creates the
    cluster.
    """
    deployer_type: NotRequired[str]
    """Type of the identity that creates the cluster, if admin_group_object_ids is empty: User
    (default) or ServicePrincipal.
    """
    kubelogin: NotRequired[str]
    """Login method that the kubeconfig uses to get a token from Entra ID: azurecli (default),
    devicecode, interactive, msi, spn, or workloadidentity.
    """
    upgrade_channel: NotRequired[str]
    """Automatic upgrades by AKS: patch (default), node-image, or none. These upgrades never change
    the minor version, because plans depend on the minor version.
    """
    node_os_channel: NotRequired[str]
    """Automatic upgrades of node images: SecurityPatch (default; keeps the image's GPU driver),
    NodeImage (a new image and driver every week), Unmanaged, or None. With upgrade_channel
    node-image, the only supported value is NodeImage.
    """
    autoscaler_profile: NotRequired[dict[str, pulumi.Input[str]]]
    """Settings for the cluster autoscaler, such as expander or scale-down-unneeded-time. Default:
    Azure's defaults.
    """
    maintenance_day: NotRequired[str]
    """Weekday of the maintenance window. Default: Sunday."""
    maintenance_start: NotRequired[str]
    """Start of the four-hour maintenance window in UTC. Default: 03:00."""
    secrets_kms_key: NotRequired[pulumi.Input[str]]
    """Key Vault key that encrypts Kubernetes Secrets in etcd, with its version
    (https://VAULT.vault.azure.net/keys/NAME/VERSION). The vault must be reachable from outside its
    network. Never delete the key or the vault. Default: Azure's key.
    """
    secrets_key_vault_id: NotRequired[pulumi.Input[str]]
    """ID of the vault that contains secrets_kms_key. The component assigns roles on this vault.
    Required unless grant_key_use is false.
    """
    grant_key_use: NotRequired[bool]
    """If secrets_kms_key or disk_encryption_set_id is set, grant the cluster's identity the Key
    Vault Crypto User role on the vault, and the Reader role on the disk encryption set. Set to
    false if the identity already has the roles, or if the vault uses access policies. Default:
    true.
    """
    disk_encryption_set_id: NotRequired[pulumi.Input[str]]
    """ID of a disk encryption set with your own key, in the cluster's region, for the disks of
    nodes and volumes. Changing this value replaces the cluster. Default: Azure's key.
    """
    encryption_at_host: NotRequired[bool]
    """Encrypt disks and caches of system nodes at the host. The subscription needs the
    Microsoft.Compute/EncryptionAtHost feature. Default: true.
    """
    log_workspace_id: NotRequired[pulumi.Input[str]]
    """Existing Log Analytics workspace for audit logs and Defender. Default: a new workspace."""
    log_retention_days: NotRequired[int]
    """Number of days that a new workspace keeps logs, 30 to 730. Default: 90."""
    defender: NotRequired[bool]
    """Enable Microsoft Defender on the nodes (billed per core). Default: true."""
    system_machine: NotRequired[str]
    """Machine type for the system nodes. Default: Standard_D4s_v5."""
    system_count: NotRequired[int]
    """Number of system nodes. Default: 2. Azure recommends 3."""
    system_zones: NotRequired[list[str]]
    """Zones for the system nodes, for example eastus-1. Default: none."""
    deletion_protection: NotRequired[bool]
    """Prevent Pulumi from deleting or replacing the cluster. Azure doesn't have such a setting, and
    a lock would also prevent Pulumi from replacing pools, so Azure doesn't reject the deletion.
    Default: false.
    """
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all created resources."""


class AksClusterInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs with default values. None means that the component creates the part."""

    kubernetes_version: str
    location: str
    resource_group_name: pulumi.Input[str] | None
    cluster_name: str  # "" for a group that Pulumi creates
    dns_prefix: str
    node_resource_group: str
    keep_pools: bool
    identity_id: pulumi.Input[str] | None
    identity_principal_id: pulumi.Input[str] | None
    subnet_id: pulumi.Input[str] | None
    outbound_type: str
    ranges: ServiceRanges
    public_access_cidrs: list[str]
    admin_group_object_ids: list[str]
    deployer_type: str
    kubelogin: str
    upgrade_channel: str
    node_os_channel: str
    autoscaler_profile: dict[str, pulumi.Input[str]]
    maintenance_day: str
    maintenance_start: str
    secrets_kms_key: pulumi.Input[str] | None
    secrets_key_vault_id: pulumi.Input[str] | None  # None: Pulumi doesn't grant any permission
    disk_encryption_set_id: pulumi.Input[str] | None
    grant_disk_set_use: bool
    encryption_at_host: bool
    log_workspace_id: pulumi.Input[str] | None
    log_retention_days: int
    defender: bool
    system_machine: str
    system_count: int
    system_zones: list[str]  # in the form that the API uses
    deletion_protection: bool
    tags: dict[str, pulumi.Input[str]]


def read_cluster_inputs(read: InputReader) -> AksClusterInputs:
    """Return the checked inputs, and record errors in `read`."""
    location = read.text("location", check=CLOUD.region_fault)
    cidrs = read.texts("public_access_cidrs", check=_address_fault)
    if fault := ranges_fault(len(cidrs)):
        read.refuse("public_access_cidrs", fault)
    identity, principal = _read_identity(read)
    grants = read_key_grant(read, "secrets_kms_key", "disk_encryption_set_id")
    if read.has("log_retention_days") and read.has("log_workspace_id"):
        read.refuse(
            "log_retention_days",
            "applies only to a new workspace, but log_workspace_id refers to an existing workspace",
        )
    return AksClusterInputs(
        kubernetes_version=read.text("kubernetes_version", check=version_check(CLOUD)),
        location=location,
        resource_group_name=read.identifier("resource_group_name"),
        cluster_name=_read_name(read, "cluster_name"),
        dns_prefix=_read_name(read, "dns_prefix"),
        node_resource_group=_read_name(read, "node_resource_group"),
        keep_pools=_read_keep_pools(read),
        identity_id=identity,
        identity_principal_id=principal,
        subnet_id=read.identifier("subnet_id", check=subnet_fault),
        outbound_type=_read_outbound_type(read),
        ranges=read_ranges(read),
        public_access_cidrs=cidrs,
        admin_group_object_ids=read.texts(
            "admin_group_object_ids",
            pattern=r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
            meaning="a UUID",
        ),
        deployer_type=_read_deployer(read),
        kubelogin=read.choice("kubelogin", LOGINS, LOGINS[0]),
        upgrade_channel=read.choice("upgrade_channel", UPGRADE_CHANNELS, "patch"),
        node_os_channel=_read_node_os_channel(read),
        autoscaler_profile=read.labels("autoscaler_profile", check=_autoscaler_fault),
        maintenance_day=read.choice("maintenance_day", DAYS, "Sunday"),
        maintenance_start=read.text(
            "maintenance_start",
            "03:00",
            pattern=r"([01]\d|2[0-3]):[0-5]\d",
            meaning="a time of day, for example 03:00",
        ),
        secrets_kms_key=read.identifier("secrets_kms_key", pattern=KEY, meaning=KEY_MEANING),
        secrets_key_vault_id=_read_vault(read, grants),
        disk_encryption_set_id=read.identifier(
            "disk_encryption_set_id", pattern=DISK_SET, meaning=DISK_SET_MEANING
        ),
        grant_disk_set_use=grants,
        encryption_at_host=read.flag("encryption_at_host", True),
        log_workspace_id=read.identifier("log_workspace_id"),
        log_retention_days=read.whole("log_retention_days", 90, least=30, most=730),
        defender=read.flag("defender", True),
        system_machine=read.text("system_machine", CLOUD.system_machine),
        system_count=read.whole("system_count", 2, least=SYSTEM_NODES[0], most=SYSTEM_NODES[-1]),
        system_zones=read_zones(read, "system_zones", location),
        deletion_protection=read.flag("deletion_protection", False),
        tags=read_tags(read),
    )


def _read_name(read: InputReader, key: str) -> str:
    """Return the cluster's permanent name, or "" if Pulumi generates it."""
    pattern, meaning = NAMES[key]
    return read.text(key, "", pattern=pattern, meaning=meaning)


def _read_keep_pools(read: InputReader) -> bool:
    keeps = read.flag("keep_pools", False)
    if keeps and not read.has("cluster_name"):
        read.refuse("keep_pools", "applies only to an existing cluster, so also set cluster_name")
    return keeps


def _read_identity(read: InputReader) -> tuple[pulumi.Input[str] | None, pulumi.Input[str] | None]:
    """Return the existing identity with its principal, or None for both."""
    for key, other in (
        ("identity_id", "identity_principal_id"),
        ("identity_principal_id", "identity_id"),
    ):
        if read.has(key) and not read.has(other):
            read.refuse(other, f"is required with {key}")
    identity = read.identifier(
        "identity_id", pattern=IDENTITY, meaning="the ID of a user-assigned identity"
    )
    return identity, read.identifier("identity_principal_id")


def _read_outbound_type(read: InputReader) -> str:
    if not read.has("subnet_id"):
        if read.has("outbound_type"):
            read.refuse(
                "outbound_type",
                "applies only with subnet_id, because nodes in a new network use its NAT gateway",
            )
        return "userAssignedNATGateway"
    return read.choice("outbound_type", OUTBOUND_TYPES, OUTBOUND_TYPES[0])


def _read_vault(read: InputReader, grants: bool) -> pulumi.Input[str] | None:
    """Return the vault on which the cluster's identity gets a role, or None if it gets none."""
    has_key = read.has("secrets_kms_key")
    vault = read.identifier(
        "secrets_key_vault_id", pattern=VAULT, meaning="the ID of a Key Vault (/subscriptions/…)"
    )
    if vault is not None and not (has_key and grants):
        read.refuse(
            "secrets_key_vault_id",
            "has no effect without secrets_kms_key",
        )
    if vault is None and has_key and grants:
        read.refuse(
            "secrets_key_vault_id",
            "is required, because the cluster's identity needs a role on the key's vault",
        )
    return vault


def _read_deployer(read: InputReader) -> str:
    if read.has("deployer_type") and read.has("admin_group_object_ids"):
        read.refuse(
            "deployer_type",
            "has no effect with admin_group_object_ids, because these groups administer the cluster",
        )
    return read.choice("deployer_type", DEPLOYERS, DEPLOYERS[0])


def _address_fault(cidr: str) -> str:
    return public_network_fault(cidr) or CLOUD.address_fault(cidr)


def _read_node_os_channel(read: InputReader) -> str:
    """Return `node_os_channel`: a new node image brings a new GPU driver, so only security patches
    by default.

    Azure/AKS issues 5869 and 5871: an image of the weekly channel broke every new A10 node.
    """
    channel = read.choice("upgrade_channel", UPGRADE_CHANNELS, "patch")
    usual = {"node-image": "NodeImage", "none": "None"}.get(channel, "SecurityPatch")
    chosen = read.choice("node_os_channel", NODE_OS_CHANNELS, usual)
    if channel == "node-image" and chosen != "NodeImage":
        read.refuse("node_os_channel", "must be NodeImage if upgrade_channel is node-image")
    return chosen


def _autoscaler_fault(name: str, value: str) -> str:
    if name not in AUTOSCALER_SETTINGS:
        return (
            "isn't a setting of the cluster autoscaler; use one of: "
            f"{', '.join(AUTOSCALER_SETTINGS)}"
        )
    return "" if value.strip() else "must have a value"
