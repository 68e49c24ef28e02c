"""A GKE cluster that DRA can run on: VPC-native, private nodes, Dataplane V2, Workload Identity."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp

from pulumi_dra.children import Children
from pulumi_dra.cidrs import check_public_cidr
from pulumi_dra.gke.kubeconfig import gke_kubeconfig
from pulumi_dra.gke.network import GkeNetwork
from pulumi_dra.gke.node_account import declare_node_account
from pulumi_dra.gke.node_config import node_settings
from pulumi_dra.gke.zones import read_zones
from pulumi_dra.inputs import InputReader
from pulumi_dra.kubernetes_version import check_version

RELEASE_CHANNELS = ("RAPID", "REGULAR", "STABLE", "EXTENDED")
SYSTEM_DISK_GIB = 100


class GkeClusterArgs(TypedDict):
    """Inputs of GkeCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later: DRA needs resource.k8s.io/v1."""
    region: str
    """Region, us-central1 for example."""
    node_zones: NotRequired[list[pulumi.Input[str]]]
    """Zones of the nodes. Default: all that GKE picks for the region."""
    zonal: NotRequired[bool]
    """One control plane in the only node zone instead of three over the region. Default false."""
    public_access_cidrs: NotRequired[list[str]]
    """Networks that may reach the API server from outside (203.0.113.0/24). None: no public endpoint at all, and
    whoever runs `pulumi up` must be inside the network."""
    release_channel: NotRequired[str]
    """Release channel: RAPID, REGULAR (default), STABLE or EXTENDED."""
    network_id: NotRequired[pulumi.Input[str]]
    """Existing network; with subnetwork_id, pods_range_name and services_range_name. No network is made then."""
    subnetwork_id: NotRequired[pulumi.Input[str]]
    """Existing subnet."""
    pods_range_name: NotRequired[pulumi.Input[str]]
    """Name of the subnet's secondary range for pods."""
    services_range_name: NotRequired[pulumi.Input[str]]
    """Name of the subnet's secondary range for services."""
    secrets_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts Kubernetes secrets. Default: Google's own key."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts the boot disks of system nodes. Default: Google's own key."""
    security_group: NotRequired[str]
    """Google group whose members and subgroups RBAC may name (gke-security-groups@example.com)."""
    system_machine: NotRequired[str]
    """Machine type of the nodes without GPUs. Default e2-standard-4."""
    system_count: NotRequired[int]
    """How many nodes without GPUs, in all zones together. Default 2."""
    deletion_protection: NotRequired[bool]
    """Whether GKE refuses to delete the cluster. Default false; `protect` in the resource options keeps Pulumi from
    deleting it."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Labels of the cluster and its machines, for billing."""


class GkeCluster(pulumi.ComponentResource):
    """A GKE cluster with its network, node service account and system nodes, ready for GPU pools."""

    name: pulumi.Output[str]
    """Name of the cluster."""
    location: pulumi.Output[str]
    """Region or zone of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig, secret: whoever uses it gets a token from gke-gcloud-auth-plugin."""
    kubeconfig_json: pulumi.Output[str]
    """The same as JSON text."""
    node_service_account: pulumi.Output[str]
    """Service account of the nodes, for GPU pools too."""
    workload_pool: pulumi.Output[str]
    """Workload Identity pool."""

    def __init__(self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("GkeCluster", name, args, GkeClusterArgs)
        version = read.text("kubernetes_version", check=check_version)
        region = read.text("region", pattern="[a-z]+-[a-z]+[0-9]+", meaning="a region (us-central1)")
        zones = read_zones(read, "node_zones", region)
        zonal = read.flag("zonal", False)
        cidrs = read.texts("public_access_cidrs", check=check_public_cidr)
        channel = read.choice("release_channel", RELEASE_CHANNELS, "REGULAR")
        network_id, subnetwork_id = read.identifier("network_id"), read.identifier("subnetwork_id")
        pods_range, services_range = read.identifier("pods_range_name"), read.identifier("services_range_name")
        secrets_key, disk_key = read.identifier("secrets_kms_key"), read.identifier("disk_kms_key")
        security_group = read.text(
            "security_group", "", pattern="gke-security-groups@.+", meaning="a group named gke-security-groups@…"
        )
        system_machine = read.text("system_machine", "e2-standard-4")
        system_count = read.whole("system_count", 2, least=1, most=100)
        deletion_protection = read.flag("deletion_protection", False)
        labels = read.labels("labels")
        if zonal and (len(zones) != 1 or not isinstance(zones[0], str)):
            read.refuse("zonal", "needs exactly one zone in node_zones, as plain text")
        _check_existing_network(read)
        read.finish()

        super().__init__("pulumi-dra:index:GkeCluster", name, {}, opts)
        self._children = Children(self, opts)
        options = self._children.options
        ways_out: list[pulumi.Resource] = []
        if network_id is None:
            network = GkeNetwork(f"{name}-network", {"region": region}, opts=options())
            ways_out = network.egress
            network_id, subnetwork_id = network.network_id, network.subnetwork_id
            pods_range, services_range = network.pods_range_name, network.services_range_name
        account, grants = declare_node_account(name, self._children)
        location = zones[0] if zonal else region
        workload_pool = account.project.apply(lambda project: f"{project}.svc.id.goog")
        cluster = gcp.container.Cluster(
            f"{name}-cluster",
            location=location,
            node_locations=zones if zones and not zonal else None,
            min_master_version=version,
            release_channel={"channel": channel},
            network=network_id,
            subnetwork=subnetwork_id,
            networking_mode="VPC_NATIVE",
            ip_allocation_policy={
                "cluster_secondary_range_name": pods_range,
                "services_secondary_range_name": services_range,
            },
            datapath_provider="ADVANCED_DATAPATH",
            enable_intranode_visibility=True,
            private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": not cidrs},
            master_authorized_networks_config={"cidr_blocks": [{"cidr_block": cidr} for cidr in cidrs]},
            workload_identity_config={"workload_pool": workload_pool},
            enable_shielded_nodes=True,
            enable_legacy_abac=False,
            master_auth={"client_certificate_config": {"issue_client_certificate": False}},
            binary_authorization={"evaluation_mode": "PROJECT_SINGLETON_POLICY_ENFORCE"},
            authenticator_groups_config={"security_group": security_group} if security_group else None,
            database_encryption={"state": "ENCRYPTED", "key_name": secrets_key} if secrets_key is not None else None,
            logging_config={"enable_components": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
            monitoring_config={"enable_components": ["SYSTEM_COMPONENTS"], "managed_prometheus": {"enabled": True}},
            # Pools are resources of their own; the cluster's first one is made small and removed at once.
            remove_default_node_pool=True,
            initial_node_count=1,
            node_config={
                "service_account": account.email,
                "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
                "shielded_instance_config": {"enable_integrity_monitoring": True, "enable_secure_boot": True},
                "workload_metadata_config": {"mode": "GKE_METADATA"},
            },
            deletion_protection=deletion_protection,
            resource_labels=labels,
            opts=options(
                depends_on=[*grants, *ways_out],
                # What the removed first pool looked like is of no interest afterwards, and a change would replace
                # the cluster.
                ignore_changes=["initialNodeCount", "nodeConfig"],
            ),
        )
        system_nodes = gcp.container.NodePool(
            f"{name}-system",
            cluster=cluster.id,
            location=location,
            # Totals, so that the number does not depend on how many zones there are.
            autoscaling={"total_min_node_count": system_count, "total_max_node_count": system_count},
            management={"auto_repair": True, "auto_upgrade": True},
            node_config={
                "machine_type": system_machine,
                **node_settings(
                    account.email,
                    disk_gib=SYSTEM_DISK_GIB,
                    secure_boot=True,
                    labels={"pulumi-dra/pool": "system"},
                    resource_labels=labels,
                    disk_kms_key=disk_key,
                ),
            },
            opts=options(depends_on=grants, ignore_changes=["initialNodeCount"]),
        )
        self._usable: list[pulumi.Resource] = [system_nodes, *grants]

        self.name, self.location, self.endpoint = cluster.name, pulumi.Output.from_input(location), cluster.endpoint
        self.kubeconfig_json = pulumi.Output.secret(
            pulumi.Output.all(
                cluster.name, cluster.endpoint, cluster.master_auth.apply(lambda auth: auth.cluster_ca_certificate)
            ).apply(lambda parts: gke_kubeconfig(*parts))
        )
        self.kubeconfig = pulumi.Output.json_loads(self.kubeconfig_json)
        self.node_service_account = account.email
        self.workload_pool = workload_pool
        self.cluster_id = cluster.id
        self.cluster_resource = cluster
        self.register_outputs(
            {
                "name": self.name,
                "location": self.location,
                "endpoint": self.endpoint,
                "kubeconfig": self.kubeconfig,
                "kubeconfig_json": self.kubeconfig_json,
                "node_service_account": self.node_service_account,
                "workload_pool": self.workload_pool,
            }
        )

    @property
    def usable(self) -> list[pulumi.Resource]:
        """What must be there before anything runs in the cluster: system nodes and what they may do."""
        return list(self._usable)


def _check_existing_network(read: InputReader) -> None:
    keys = ("network_id", "subnetwork_id", "pods_range_name", "services_range_name")
    given = [key for key in keys if read.has(key)]
    if given and len(given) < len(keys):
        for key in keys:
            if key not in given:
                read.refuse(key, f"is missing: an existing network is given by {', '.join(keys)} together")
