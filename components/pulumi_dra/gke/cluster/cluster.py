"""A GKE cluster with DRA: VPC-native, private nodes, Dataplane V2, Workload Identity."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from hashlib import sha256
from typing import Any

import pulumi
import pulumi_gcp as gcp
from pulumi_gcp.container.outputs import ClusterControlPlaneEndpointsConfig

from dra_planner.clouds import POOL
from pulumi_dra.child_options import Children
from pulumi_dra.gke.cluster.cluster_inputs import (
    ExistingNetwork,
    GkeClusterArgs,
    GkeClusterInputs,
    read_cluster_inputs,
)
from pulumi_dra.gke.cluster.kubeconfig import gke_kubeconfig
from pulumi_dra.gke.cluster.network_settings import network_settings
from pulumi_dra.gke.cluster.storage import storage_addons
from pulumi_dra.gke.key_grants import DISKS, SECRETS, declare_key_grant
from pulumi_dra.gke.naming import CLUSTER_NAME
from pulumi_dra.gke.network.network import GkeNetwork
from pulumi_dra.gke.node_account import declare_node_account
from pulumi_dra.gke.pool.node_config import node_settings
from pulumi_dra.gke.pool.node_counts import spread
from pulumi_dra.inputs.maintenance import MaintenanceExclusion
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.resource_names import fitting

SYSTEM_DISK_GIB = 100
FIRST_MACHINE = "e2-medium"  # machine type of the pool that is removed immediately; GKE's default
# The settings of the removed first pool don't matter later, but a change would replace the cluster.
# In an imported cluster, the first pool might still exist, and the provider would delete it with
# all of its pods
# (hashicorp/terraform-provider-google:google/services/container/resource_container_cluster.go,
# issue 3064).
FIRST_POOL = ["initialNodeCount", "nodeConfig", "removeDefaultNodePool"]
# In an imported cluster, the provider reads settings of the first pool that it doesn't accept
# (windowsNodeConfig.osversion: ""). Therefore, the component sends no settings that ignoring
# changes would fill in.
IMPORTED_FIRST_POOL = ["initialNodeCount", "removeDefaultNodePool"]


class GkeCluster(pulumi.ComponentResource):
    """A GKE cluster with its network, node service account, and system nodes, ready for GPU
    pools.
    """

    name: pulumi.Output[str]
    """Name of the cluster."""
    location: pulumi.Output[str]
    """Region or zone of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig (secret), which runs gke-gcloud-auth-plugin to get a token."""
    kubeconfig_json: pulumi.Output[str]
    """Kubeconfig as JSON text."""
    node_service_account: pulumi.Output[str]
    """Service account of the nodes, which GPU pools can also use."""
    workload_pool: pulumi.Output[str]
    """Workload Identity pool."""

    def __init__(
        self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("GkeCluster", name, args, GkeClusterArgs)
        inputs = read_cluster_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:GkeCluster", name, {}, opts)
        self._children = Children(self, opts)
        network, ways_out = self._declare_network(inputs)
        account, grants = declare_node_account(name, self._children)
        of_secrets = self._declare_key_grant(inputs.secrets_kms_key, SECRETS, inputs)
        of_disks = self._declare_key_grant(inputs.disk_kms_key, DISKS, inputs)
        cluster = self._declare_cluster(
            inputs, network, account, [*grants, *ways_out, *of_secrets, *of_disks]
        )
        system_nodes = self._declare_system_nodes(inputs, cluster, account, [*grants, *of_disks])
        self._usable: list[pulumi.Resource] = [system_nodes, *grants]
        self.cluster_resource = cluster
        self._set_outputs(inputs, cluster, account)

    def _declare_network(
        self, inputs: GkeClusterInputs
    ) -> tuple[ExistingNetwork, list[pulumi.Resource]]:
        """Return the existing or new network, and the outbound resources that nodes in a new
        network need.
        """
        if inputs.network is not None:
            return inputs.network, []
        made = GkeNetwork(
            f"{self._name}-network",
            {
                "region": inputs.region,
                "nodes_cidr": inputs.ranges.nodes_cidr,
                "pods_cidr": inputs.ranges.pods_cidr,
                "service_cidr": inputs.ranges.service_cidr,
            },
            opts=self._children.options(),
        )
        network = ExistingNetwork(
            network_id=made.network_id,
            subnetwork_id=made.subnetwork_id,
            pods_range_name=made.pods_range_name,
            services_range_name=made.services_range_name,
        )
        return network, made.egress

    def _declare_cluster(
        self,
        inputs: GkeClusterInputs,
        network: ExistingNetwork,
        account: gcp.serviceaccount.Account,
        depends_on: list[pulumi.Resource],
    ) -> gcp.container.Cluster:
        secrets_key = inputs.secrets_kms_key
        return gcp.container.Cluster(
            fitting(f"{self._name}-cluster", CLUSTER_NAME),
            name=inputs.cluster_name or None,
            location=inputs.location,
            node_locations=inputs.node_zones if inputs.node_zones and not inputs.zonal else None,
            min_master_version=inputs.kubernetes_version,
            release_channel={
                "channel": "UNSPECIFIED"
                if inputs.release_channel == "none"
                else inputs.release_channel
            },
            maintenance_policy=_maintenance(inputs),
            workload_identity_config={"workload_pool": _workload_pool(account)},
            enable_shielded_nodes=True,
            enable_legacy_abac=False,
            master_auth={"client_certificate_config": {"issue_client_certificate": False}},
            binary_authorization={"evaluation_mode": "PROJECT_SINGLETON_POLICY_ENFORCE"},
            authenticator_groups_config={"security_group": inputs.security_group},
            database_encryption=(
                {"state": "DECRYPTED"}
                if secrets_key is None
                else {"state": "ENCRYPTED", "key_name": secrets_key}
            ),
            addons_config=_addons(inputs),
            logging_config={
                "enable_components": ["SYSTEM_COMPONENTS", "WORKLOADS", *inputs.control_plane_logs]
            },
            monitoring_config={
                "enable_components": inputs.monitoring_components,
                "managed_prometheus": {"enabled": True},
            },
            # Pools are separate resources. The cluster's first pool is created small and removed
            # immediately.
            remove_default_node_pool=None if inputs.imported else True,
            initial_node_count=None if inputs.imported else 1,
            node_config=None if inputs.imported else _first_nodes(inputs, account),
            deletion_protection=inputs.deletion_protection,
            resource_labels={"managed-by": "pulumi-dra", **inputs.resource_labels},
            opts=self._children.options(
                depends_on=depends_on,
                ignore_changes=IMPORTED_FIRST_POOL if inputs.imported else FIRST_POOL,
                # Two clusters can't have the same name.
                delete_before_replace=True if inputs.cluster_name else None,
                # The cloud rejects the deletion only after the pools and releases have been
                # deleted.
                protect=True if inputs.deletion_protection else None,
            ),
            **network_settings(inputs, network),
        )

    def _declare_key_grant(
        self, key: pulumi.Input[str] | None, agent: str, inputs: GkeClusterInputs
    ) -> list[pulumi.Resource]:
        if key is None or not inputs.grant_key_use:
            return []
        return [declare_key_grant(f"{self._name}-{agent}", key, agent, self._children)]

    def _declare_system_nodes(
        self,
        inputs: GkeClusterInputs,
        cluster: gcp.container.Cluster,
        account: gcp.serviceaccount.Account,
        grants: list[pulumi.Resource],
    ) -> gcp.container.NodePool:
        node_config = node_settings(
            account.email,
            machine_type=inputs.system_machine,
            disk_gib=SYSTEM_DISK_GIB,
            secure_boot=True,
            labels={POOL: "system"},
            resource_labels=inputs.resource_labels,
            disk_kms_key=inputs.disk_kms_key,
        )
        count, zones = inputs.system_count, inputs.node_zones
        used, first = spread(count, len(zones))
        return gcp.container.NodePool(
            fitting(f"{self._name}-system", CLUSTER_NAME),
            cluster=cluster.name if inputs.imported else cluster.id,
            location=inputs.location,
            node_locations=zones[:used] if used < len(zones) else None,
            # Limits are totals, so they don't depend on the number of zones. The initial count
            # determines the first nodes, because a minimum doesn't add nodes.
            autoscaling={
                "total_min_node_count": count,
                "total_max_node_count": max(count, used * first),
            },
            initial_node_count=first,
            management={"auto_repair": True, "auto_upgrade": True},
            node_config=node_config,
            opts=self._children.options(depends_on=grants, ignore_changes=["initialNodeCount"]),
        )

    def _set_outputs(
        self,
        inputs: GkeClusterInputs,
        cluster: gcp.container.Cluster,
        account: gcp.serviceaccount.Account,
    ) -> None:
        self.name, self.endpoint, self.cluster_id = cluster.name, cluster.endpoint, cluster.id
        self.location = pulumi.Output.from_input(inputs.location)
        authority = cluster.master_auth.apply(lambda auth: auth.cluster_ca_certificate or "")
        # The address changes with dns_endpoint. The certificate authority changes only with the
        # cluster.
        self.identity = authority.apply(lambda text: sha256(text.encode()).hexdigest())
        server = cluster.endpoint
        if inputs.dns_endpoint:
            server, authority = (
                cluster.control_plane_endpoints_config.apply(_dns_name),
                pulumi.Output.from_input(""),
            )
        parts = pulumi.Output.all(cluster.name, server, authority)
        self.kubeconfig_json = pulumi.Output.secret(
            parts.apply(lambda known: gke_kubeconfig(*known))
        )
        self.kubeconfig = pulumi.Output.json_loads(self.kubeconfig_json)
        self.node_service_account, self.workload_pool = account.email, _workload_pool(account)
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
        """The resources that must exist before anything runs in the cluster: system nodes and their
        permissions.
        """
        return list(self._usable)


def _first_nodes(
    inputs: GkeClusterInputs, account: gcp.serviceaccount.Account
) -> gcp.container.ClusterNodeConfigArgsDict:
    # The key is set here too, because GKE rejects the pool without it if an organization policy
    # requires keys (terraform-google-modules/terraform-google-kubernetes-engine issue 2344).
    return node_settings(
        account.email,
        machine_type=FIRST_MACHINE,
        # Balanced disks count against the SSD quota: 300 GB in three zones, but a new project has
        # only 250 GB (issue 1795).
        disk_type="pd-standard",
        disk_gib=SYSTEM_DISK_GIB,
        secure_boot=True,
        disk_kms_key=inputs.disk_kms_key,
    )


def _addons(inputs: GkeClusterInputs) -> Any:
    """Return the add-ons that this component knows, each enabled or disabled."""
    addons = storage_addons(inputs.storage_drivers)
    addons["dns_cache_config"] = {"enabled": inputs.node_local_dns}
    return addons


def _maintenance(inputs: GkeClusterInputs) -> gcp.container.ClusterMaintenancePolicyArgsDict:
    """Return GKE's maintenance times, by default at night in UTC."""
    exclusions, window = inputs.maintenance_exclusions, inputs.maintenance_window
    policy: gcp.container.ClusterMaintenancePolicyArgsDict = {
        "maintenance_exclusions": [_exclusion(each) for each in exclusions]
    }
    if window is not None:
        policy["recurring_window"] = {**window}
    else:
        policy["daily_maintenance_window"] = {"start_time": inputs.maintenance_start or "03:00"}
    return policy


def _exclusion(
    exclusion: MaintenanceExclusion,
) -> gcp.container.ClusterMaintenancePolicyMaintenanceExclusionArgsDict:
    options: gcp.container.ClusterMaintenancePolicyMaintenanceExclusionExclusionOptionsArgsDict = {
        "scope": exclusion.get("scope", "")
    }
    args: gcp.container.ClusterMaintenancePolicyMaintenanceExclusionArgsDict = {
        "exclusion_name": exclusion["name"],
        "start_time": exclusion["start_time"],
        "exclusion_options": options,
    }
    if "end_time" in exclusion:
        args["end_time"] = exclusion["end_time"]
    else:
        options["end_time_behavior"] = "UNTIL_END_OF_SUPPORT"
    return args


def _dns_name(endpoints: ClusterControlPlaneEndpointsConfig) -> str:
    return (endpoints.dns_endpoint_config.endpoint if endpoints.dns_endpoint_config else None) or ""


def _workload_pool(account: gcp.serviceaccount.Account) -> pulumi.Output[str]:
    return account.project.apply(lambda project: f"{project}.svc.id.goog")
