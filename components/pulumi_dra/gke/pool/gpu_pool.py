"""A GKE node pool of GPU machines for Dynamic Resource Allocation, sized by a plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import pulumi
import pulumi_gcp as gcp

from pulumi_dra.child_options import Children
from pulumi_dra.gke.key_grants import DISKS, declare_key_grant
from pulumi_dra.gke.naming import NODE_POOL_NAME
from pulumi_dra.gke.pool.gpu_pool_inputs import (
    GkeGpuPoolArgs,
    GkeGpuPoolInputs,
    read_gpu_pool_inputs,
)
from pulumi_dra.gke.pool.machine import guest_accelerators
from pulumi_dra.gke.pool.node_config import node_settings
from pulumi_dra.gke.pool.node_counts import node_count_settings
from pulumi_dra.inputs.disk_speed import USUAL_SPEED
from pulumi_dra.inputs.pool_inputs import cloud_effect
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.resource_names import fitting
from pulumi_dra.timeouts import waiting

# docs.cloud.google.com/kubernetes-engine/docs/concepts/node-pool-upgrade-strategies: an hour for
# PodDisruptionBudgets and for the pods' termination grace period (observed in kubernetes/kubernetes
# issue 50252).
EVICTION_MINUTES = 60


class GkeGpuPool(pulumi.ComponentResource):
    """A node pool with GPU machines for the DRA driver or, with allocation device-plugin, for GKE's
    device plugin.
    """

    pool_name: pulumi.Output[str]
    """Name of the pool, and value of the `pulumi-dra/pool` label."""
    node_pool_name: pulumi.Output[str]
    """Name of the node pool."""
    max_nodes: pulumi.Output[int]
    """Maximum number of nodes."""

    def __init__(
        self, name: str, args: GkeGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("GkeGpuPool", name, args, GkeGpuPoolArgs)
        inputs = read_gpu_pool_inputs(read, name)
        read.finish()
        super().__init__("pulumi-dra:index:GkeGpuPool", name, {}, opts)
        children = Children(self, opts)
        grants: list[pulumi.Resource] = []
        if inputs.grant_key_use and inputs.disk_kms_key is not None:
            grants = [declare_key_grant(f"{name}-disks", inputs.disk_kms_key, DISKS, children)]
        pool = gcp.container.NodePool(
            fitting(f"{name}-nodes", NODE_POOL_NAME),
            name=inputs.node_pool_name or None,
            cluster=inputs.cluster_name,
            location=inputs.location,
            node_locations=inputs.zones,
            management={
                "auto_repair": inputs.capacity.is_repaired,
                "auto_upgrade": inputs.auto_upgrade,
            },
            upgrade_settings=inputs.capacity.upgrade_settings,
            placement_policy=inputs.placement_policy,
            max_pods_per_node=inputs.max_pods,
            version=inputs.node_version or None,
            network_config=_network_config(inputs.network_profile),
            node_config=_node_config(inputs),
            **inputs.capacity.pool,
            **node_count_settings(inputs.counts, len(inputs.zones), inputs.location_policy),
            # Changing either of them would create a new pool: the initial count is per zone, and
            # GKE reports the SSDs that are part of a machine type even if the program doesn't
            # request them (GoogleCloudPlatform/cluster-toolkit PR 2968).
            opts=children.options(
                depends_on=grants,
                ignore_changes=[
                    "initialNodeCount",
                    *([] if inputs.local_ssds else ["nodeConfig.ephemeralStorageLocalSsdConfig"]),
                ],
                custom_timeouts=waiting(
                    inputs.counts.max, inputs.capacity.at_once, EVICTION_MINUTES
                ),
            ),
        )
        self.pool_name = pulumi.Output.from_input(inputs.pool_name)
        self.node_pool_name = pool.name
        self.max_nodes = pulumi.Output.from_input(inputs.counts.max)
        self.register_outputs(
            {
                "pool_name": self.pool_name,
                "node_pool_name": self.node_pool_name,
                "max_nodes": self.max_nodes,
            }
        )


def _node_config(inputs: GkeGpuPoolInputs) -> gcp.container.NodePoolNodeConfigArgsDict:
    config: gcp.container.NodePoolNodeConfigArgsDict = {
        **node_settings(
            inputs.service_account,
            machine_type=inputs.machine.instance_type,
            disk_gib=inputs.disk_gib,
            disk_type=inputs.disk_type,
            secure_boot=inputs.secure_boot,
            labels=inputs.labels,
            resource_labels=inputs.resource_labels,
            disk_kms_key=inputs.disk_kms_key,
        ),
        **inputs.capacity.node_config,
        **inputs.system.node_config(),
        "guest_accelerators": guest_accelerators(inputs.machine, inputs.plugin),
        "taints": [
            {"key": t.key, "value": t.value, "effect": cloud_effect(t)} for t in inputs.taints
        ],
        "gvnic": {"enabled": True},
    }
    speed = inputs.disk_speed
    if speed != USUAL_SPEED:
        config["boot_disk"] = {
            "provisioned_iops": speed.iops,
            "provisioned_throughput": speed.throughput,
        }
    if inputs.local_ssds:
        config["ephemeral_storage_local_ssd_config"] = {"local_ssd_count": inputs.local_ssds}
    if inputs.host_maintenance:
        config["host_maintenance_policy"] = {"maintenance_interval": inputs.host_maintenance}
    # Omitting this block would keep image streaming enabled.
    config["gcfs_config"] = {"enabled": inputs.image_streaming}
    return config


def _network_config(profile: str) -> gcp.container.NodePoolNetworkConfigArgsDict:
    """Return the pool's network settings. If any of them is set, the provider sends false for
    private nodes.
    """
    config: gcp.container.NodePoolNetworkConfigArgsDict = {"enable_private_nodes": True}
    if profile:
        config["accelerator_network_profile"] = profile
    return config
