"""Inputs of GkeCluster and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.clouds import SYSTEM_NODES, public_network_fault
from dra_planner.clouds.gke import CLOUD
from pulumi_dra.gke.cluster.monitoring import read_control_plane_logs, read_monitoring
from pulumi_dra.gke.cluster.storage import read_storage_drivers
from pulumi_dra.gke.naming import read_resource_labels
from pulumi_dra.gke.network.ranges import RANGE_KEYS, SubnetRanges, read_ranges
from pulumi_dra.gke.network.zones import read_zones
from pulumi_dra.inputs.key_inputs import read_key_grant
from pulumi_dra.inputs.kubernetes_version import version_check
from pulumi_dra.inputs.maintenance import (
    MaintenanceExclusion,
    MaintenanceWindow,
    read_exclusions,
    read_window,
)
from pulumi_dra.inputs.reader import InputReader

RELEASE_CHANNELS = ("RAPID", "REGULAR", "STABLE", "EXTENDED", "none")
NO_GROUP = "none"


class GkeClusterArgs(TypedDict):
    """Inputs of GkeCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later. DRA needs resource.k8s.io/v1."""
    region: str
    """Region, for example us-central1."""
    cluster_name: NotRequired[str]
    """Name of the cluster. An imported cluster keeps its name. Default: a name that Pulumi
    generates, so that a replacement can exist at the same time as the old cluster.
    """
    node_zones: NotRequired[list[pulumi.Input[str]]]
    """Zones for the nodes. Default: the zones that GKE chooses for the region."""
    zonal: NotRequired[bool]
    """Use a zonal control plane in the only node zone instead of a regional control plane. Default:
    false.
    """
    public_access_cidrs: NotRequired[list[str]]
    """Networks from which clients can reach the API server, for example 203.0.113.0/24. If empty,
    the cluster doesn't have a public endpoint, so run `pulumi up` inside the network.
    """
    dns_endpoint: NotRequired[bool]
    """Enable the DNS endpoint of the API server, which clients outside the network can reach.
    Access is controlled by IAM (the container.clusters.connect permission) instead of network
    ranges, and the kubeconfig uses the DNS endpoint. Default: false.
    """
    global_access: NotRequired[bool]
    """Make the private endpoint reachable from other regions of the network. Default: false."""
    storage_drivers: NotRequired[list[str]]
    """Additional storage drivers: filestore, gcs-fuse, lustre. The driver for Persistent Disk and
    Hyperdisk is always enabled. Default: none.
    """
    release_channel: NotRequired[str]
    """Release channel: RAPID, REGULAR (default), STABLE, or EXTENDED. To pin the version or to use
    pools with auto_upgrade false, set none, because release channels require automatic upgrades.
    """
    maintenance_exclusions: NotRequired[list[MaintenanceExclusion]]
    """Periods in which GKE doesn't upgrade, for example while GPU pools are busy."""
    maintenance_start: NotRequired[str]
    """Start of the daily maintenance window of four hours, in UTC. Default: 03:00."""
    maintenance_window: NotRequired[MaintenanceWindow]
    """Maintenance windows as a recurrence rule, for example every weekend or the first days of each
    month. Default: daily, at maintenance_start.
    """
    control_plane_logs: NotRequired[list[str]]
    """Control plane components whose logs GKE collects: APISERVER, SCHEDULER, CONTROLLER_MANAGER.
    Default: SCHEDULER, which explains pending claims.
    """
    imported: NotRequired[bool]
    """Set to true if you imported the cluster. The component then doesn't change the cluster's
    first pool. Default: false.
    """
    node_local_dns: NotRequired[bool]
    """Run a DNS cache on every node. The cache's pods also run on GPU nodes, so add them to
    daemonPods in the fleet. Changing this value replaces the nodes. Default: false.
    """
    cloud_dns: NotRequired[bool]
    """Use Cloud DNS instead of kube-dns. Default: false."""
    monitoring_components: NotRequired[list[str]]
    """Additional components from which GKE collects metrics: POD, KUBELET, DCGM, JOBSET, and other
    values in GKE's API. GKE always collects system metrics. DCGM is GKE's own exporter, which
    Google documents only for drivers that GKE installs. Default: none.
    """
    nodes_cidr: NotRequired[str]
    """Node CIDR of a new network. Default: 10.0.0.0/20, for 4092 nodes."""
    pods_cidr: NotRequired[str]
    """Pod CIDR for a new network, with a /24 per node. Default: 10.4.0.0/14, for 1024 nodes."""
    service_cidr: NotRequired[str]
    """Service CIDR of a new network. Default: 10.8.0.0/20."""
    network_id: NotRequired[pulumi.Input[str]]
    """Existing network. Also set subnetwork_id, pods_range_name, and services_range_name. Default:
    a new network.
    """
    subnetwork_id: NotRequired[pulumi.Input[str]]
    """Existing subnet."""
    pods_range_name: NotRequired[pulumi.Input[str]]
    """Name of the subnet's secondary range for pods."""
    services_range_name: NotRequired[pulumi.Input[str]]
    """Name of the subnet's secondary range for services."""
    secrets_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts Kubernetes Secrets. Default: Google's key."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts the boot disks of system nodes. Default: Google's key."""
    grant_key_use: NotRequired[bool]
    """If disk_kms_key or secrets_kms_key is set, grant Google's service agents the required role on
    the key. The role assignment remains after you delete the cluster. Set to false if the agents
    already have the role. Default: true.
    """
    security_group: str
    """Google group whose members and subgroups you can use in RBAC
    (gke-security-groups@example.com). Set none if you bind roles to individual accounts.
    """
    system_machine: NotRequired[str]
    """Machine type for the system nodes. Default: e2-standard-4."""
    system_count: NotRequired[int]
    """Number of system nodes in all zones. Default: 2."""
    deletion_protection: NotRequired[bool]
    """Prevent GKE and Pulumi from deleting the cluster, and prevent Pulumi from replacing the
    cluster. Default: false.
    """
    resource_labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Billing labels for the cluster and its machines."""


class ExistingNetwork(Struct, frozen=True, kw_only=True):
    """An existing network."""

    network_id: pulumi.Input[str]
    subnetwork_id: pulumi.Input[str]
    pods_range_name: pulumi.Input[str]
    services_range_name: pulumi.Input[str]


class GkeClusterInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs with default values. None means that the component creates the part."""

    kubernetes_version: str
    region: str
    cluster_name: str  # "" for a name that Pulumi generates
    node_zones: list[pulumi.Input[str]]
    zonal: bool
    public_access_cidrs: list[str]
    dns_endpoint: bool
    global_access: bool
    storage_drivers: list[str]
    release_channel: str
    network: ExistingNetwork | None
    ranges: SubnetRanges  # of a new network
    secrets_kms_key: pulumi.Input[str] | None
    disk_kms_key: pulumi.Input[str] | None
    grant_key_use: bool
    security_group: str  # "" for none
    maintenance_exclusions: list[MaintenanceExclusion]
    control_plane_logs: list[str]
    imported: bool
    maintenance_start: str  # "" if unset
    maintenance_window: MaintenanceWindow | None
    node_local_dns: bool
    cloud_dns: bool
    monitoring_components: list[str]  # including the components of the system
    system_machine: str
    system_count: int
    deletion_protection: bool
    resource_labels: dict[str, pulumi.Input[str]]

    @property
    def location(self) -> pulumi.Input[str]:
        """Location of the control plane."""
        return self.node_zones[0] if self.zonal else self.region


def read_cluster_inputs(read: InputReader) -> GkeClusterInputs:
    """Return the checked inputs, and record errors in `read`."""
    region = read.text("region", check=CLOUD.region_fault)
    zones = read_zones(read, "node_zones", region)
    zonal = read.flag("zonal", False)
    if zonal and (len(zones) != 1 or not isinstance(zones[0], str)):
        read.refuse(
            "zonal",
            "requires exactly one zone in node_zones, as a plain string instead of an output",
        )
    return GkeClusterInputs(
        kubernetes_version=read.text("kubernetes_version", check=version_check(CLOUD)),
        region=region,
        cluster_name=read.text(
            "cluster_name",
            "",
            pattern=r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?",
            meaning="1 to 40 lowercase letters, digits, and hyphens that begin with a letter and "
            "don't end with a hyphen",
        ),
        node_zones=zones,
        zonal=zonal,
        public_access_cidrs=read.texts("public_access_cidrs", check=public_network_fault),
        dns_endpoint=read.flag("dns_endpoint", False),
        global_access=read.flag("global_access", False),
        storage_drivers=read_storage_drivers(read),
        release_channel=read.choice("release_channel", RELEASE_CHANNELS, "REGULAR"),
        network=_read_network(read),
        ranges=read_ranges(read),
        secrets_kms_key=read.identifier("secrets_kms_key"),
        disk_kms_key=read.identifier("disk_kms_key"),
        grant_key_use=read_key_grant(read, "secrets_kms_key", "disk_kms_key"),
        security_group=_read_group(read),
        maintenance_exclusions=read_exclusions(read),
        maintenance_start=read.text(
            "maintenance_start",
            "",
            pattern=r"([01]\d|2[0-3]):[0-5]\d",
            meaning="a time of day, for example 03:00",
        ),
        maintenance_window=read_window(read),
        node_local_dns=read.flag("node_local_dns", False),
        cloud_dns=read.flag("cloud_dns", False),
        monitoring_components=read_monitoring(read),
        control_plane_logs=read_control_plane_logs(read),
        imported=_read_imported(read),
        system_machine=read.text("system_machine", CLOUD.system_machine),
        system_count=read.whole("system_count", 2, least=SYSTEM_NODES[0], most=SYSTEM_NODES[-1]),
        deletion_protection=read.flag("deletion_protection", False),
        resource_labels=read_resource_labels(read),
    )


def _read_network(read: InputReader) -> ExistingNetwork | None:
    keys = ("network_id", "subnetwork_id", "pods_range_name", "services_range_name")
    if not any(read.has(key) for key in keys):
        return None
    for key in RANGE_KEYS:
        if read.has(key):
            read.refuse(
                key, "applies only to a new network, but network_id refers to an existing network"
            )
    for key in keys:
        if not read.has(key):
            read.refuse(
                key, f"is required, because an existing network needs all of {', '.join(keys)}"
            )
    return ExistingNetwork(**{key: read.identifier(key) or "" for key in keys})


def _read_group(read: InputReader) -> str:
    if not read.has("security_group"):
        read.refuse(
            "security_group",
            "is missing; set it to gke-security-groups@YOUR-DOMAIN, the group that contains the "
            "groups for RBAC, or to none",
        )
        return ""
    group = read.text(
        "security_group",
        pattern=f"{NO_GROUP}|gke-security-groups@.+",
        meaning="a group gke-security-groups@… or none",
    )
    return "" if group == NO_GROUP else group


def _read_imported(read: InputReader) -> bool:
    imported = read.flag("imported", False)
    if imported and not read.has("cluster_name"):
        read.refuse("cluster_name", "is required, because an imported cluster keeps its name")
    return imported
