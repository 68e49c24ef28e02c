"""An AKS agent pool of GPU machines for Dynamic Resource Allocation, sized by a plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any

import pulumi
from pulumi_azure_native import containerservice

from pulumi_dra.aks.gpu_pool_inputs import AksGpuPoolArgs, AksGpuPoolInputs, read_gpu_pool_inputs
from pulumi_dra.aks.node_count import node_count
from pulumi_dra.aks.roles import CONTRIBUTOR, declare_role
from pulumi_dra.aks.upgrades import upgrade_settings
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.timeouts import waiting

# Azure rejects changes of these properties in an existing pool ("Changing property 'properties.…'
# is not allowed"), but the provider would try to change them:
# Azure/azure-rest-api-specs:…/containerservice/…/AgentPoolModels.tsp@055cac0 doesn't mark any of
# them as create-only.
FIXED = [
    "availabilityZones",
    "capacityReservationGroupID",
    "creationData",
    "enableEncryptionAtHost",
    "enableFIPS",
    "gpuInstanceProfile",
    "gpuProfile",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "maxPods",
    "osDiskSizeGB",
    "osDiskType",
    "osType",
    "podSubnetID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "vnetSubnetID",
]


class AksGpuPool(pulumi.ComponentResource):
    """An agent pool with GPU machines for the DRA driver or, with allocation device-plugin, for the
    device plugin.
    """

    pool_name: pulumi.Output[str]
    """Name of the pool, and value of the `pulumi-dra/pool` label."""
    agent_pool_name: pulumi.Output[str]
    """Name of the agent pool."""
    max_nodes: pulumi.Output[int]
    """Maximum number of nodes."""

    def __init__(
        self, name: str, args: AksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("AksGpuPool", name, args, AksGpuPoolArgs)
        inputs = read_gpu_pool_inputs(read, name)
        read.finish()
        super().__init__("pulumi-dra:index:AksGpuPool", name, {}, opts)
        children = Children(self, opts)
        grants = _declare_grants(name, inputs, children)
        pool = containerservice.AgentPool(
            f"{name}-nodes",
            agent_pool_name=inputs.pool_name,
            resource_group_name=inputs.resource_group_name,
            resource_name_=inputs.cluster_name,
            mode="User",
            type="VirtualMachineScaleSets",
            vm_size=inputs.machine,
            orchestrator_version=inputs.kubernetes_version,
            os_type="Linux",
            os_sku=inputs.image,
            os_disk_size_gb=inputs.disk_gib,
            max_pods=inputs.max_pods,
            vnet_subnet_id=inputs.subnet_id,
            availability_zones=inputs.zones or None,
            enable_node_public_ip=False,
            enable_encryption_at_host=inputs.encryption_at_host,
            # The node image's own driver, whose root is /. This is also the default, but the
            # setting is recorded explicitly.
            gpu_profile={"driver": "Install"} if inputs.has_gpus else None,
            gpu_instance_profile=inputs.instance_profile or None,
            capacity_reservation_group_id=inputs.reservation_group_id,
            creation_data={"source_resource_id": inputs.snapshot_id}
            if inputs.snapshot_id is not None
            else None,
            node_labels=inputs.labels,
            node_taints=[f"{taint.key}={taint.value}:{taint.effect}" for taint in inputs.taints],
            upgrade_settings=upgrade_settings(inputs.upgrades),
            tags=inputs.tags,
            opts=children.options(
                depends_on=grants,
                replace_on_changes=FIXED,
                # a pool's name is fixed, and Azure rejects a second pool with the same name
                delete_before_replace=True,
                custom_timeouts=_waiting(inputs),
            ),
            **inputs.settings.agent_pool(),
            **self._counts(inputs, children),
            **_spot(inputs),
        )
        self.pool_name = pulumi.Output.from_input(inputs.pool_name)
        self.agent_pool_name = pool.name
        self.max_nodes = pulumi.Output.from_input(inputs.counts.max)
        self.register_outputs(
            {
                "pool_name": self.pool_name,
                "agent_pool_name": self.agent_pool_name,
                "max_nodes": self.max_nodes,
            }
        )

    def _counts(self, inputs: AksGpuPoolInputs, children: Children) -> dict[str, Any]:
        """Return the node count, with limits only if the autoscaler is enabled. AKS rejects limits
        without it.
        """
        counts = inputs.counts
        count = node_count(
            counts, inputs.pool_name, inputs.resource_group_name, inputs.cluster_name, children
        )
        if not counts.autoscaled:
            return {"count": count, "enable_auto_scaling": False}
        return {
            "count": count,
            "enable_auto_scaling": True,
            "min_count": counts.min,
            "max_count": counts.max,
        }


def _declare_grants(
    name: str, inputs: AksGpuPoolInputs, children: Children
) -> list[pulumi.Resource]:
    """Declare the role that the cluster needs on the pool's capacity reservation."""
    if inputs.reservation_group_id is None or not inputs.grant_reservation_use:
        return []
    group, principal = inputs.reservation_group_id, inputs.cluster_principal_id or ""
    return [declare_role(f"{name}-reservation", CONTRIBUTOR, group, principal, children)]


def _waiting(inputs: AksGpuPoolInputs) -> pulumi.CustomTimeouts:
    upgrades = inputs.upgrades
    if upgrades is None:
        return waiting(inputs.counts.max, 1, 0)
    return waiting(inputs.counts.max, upgrades.surge + upgrades.unavailable, upgrades.drain_minutes)


def _spot(inputs: AksGpuPoolInputs) -> dict[str, Any]:
    """Return the Spot settings: machines can be evicted, and cost at most the on-demand price."""
    if inputs.capacity != "spot":
        return {}
    return {
        "scale_set_priority": "Spot",
        "scale_set_eviction_policy": "Delete",
        "spot_max_price": -1,
    }
