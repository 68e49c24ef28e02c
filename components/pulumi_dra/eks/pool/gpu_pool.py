"""A managed node group of GPU machines for Dynamic Resource Allocation, sized by a plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from datetime import UTC, datetime
from typing import Any

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.eks.boot import launch_template
from pulumi_dra.eks.boot.custom_image import AMI_TYPE
from pulumi_dra.eks.boot.node_image import architecture_of, gpu_image
from pulumi_dra.eks.naming import NODE_GROUP_NAME
from pulumi_dra.eks.pool.capacity import capacity_type, is_bought, machine_in_template
from pulumi_dra.eks.pool.efa_group import declare_efa_group
from pulumi_dra.eks.pool.gpu_pool_inputs import (
    EksGpuPoolArgs,
    EksGpuPoolInputs,
    read_gpu_pool_inputs,
)
from pulumi_dra.eks.pool.node_count import desired_size
from pulumi_dra.eks.pool.schedule import Action, declare_actions, follow
from pulumi_dra.eks.rights.key_grants import declare_volume_grant
from pulumi_dra.inputs.pool_inputs import cloud_effect
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.resource_names import fitting
from pulumi_dra.timeouts import waiting

EVICTION_MINUTES = 15  # EKS user guide, “Understand each phase of node updates”


class EksGpuPool(pulumi.ComponentResource):
    """A managed node group with GPU machines for the DRA driver or, with allocation device-plugin,
    for the plugin.
    """

    pool_name: pulumi.Output[str]
    """Name of the pool, and value of the `pulumi-dra/pool` label."""
    node_group_name: pulumi.Output[str]
    """Name of the node group."""
    max_nodes: pulumi.Output[int]
    """Maximum number of nodes."""

    def __init__(
        self, name: str, args: EksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("EksGpuPool", name, args, EksGpuPoolArgs)
        inputs = read_gpu_pool_inputs(read, name)
        read.finish()
        super().__init__("pulumi-dra:index:EksGpuPool", name, {}, opts)
        self._children = Children(self, opts)
        template = self._declare_template(inputs)
        desired, actions = self._sizes(inputs)
        group = self._declare_node_group(inputs, template, desired)
        declare_actions(f"{name}-nodes", group, actions, self._children)
        self.pool_name = pulumi.Output.from_input(inputs.pool_name)
        self.node_group_name = group.node_group_name
        self.max_nodes = pulumi.Output.from_input(inputs.counts.max)
        self.register_outputs(
            {
                "pool_name": self.pool_name,
                "node_group_name": self.node_group_name,
                "max_nodes": self.max_nodes,
            }
        )

    def _declare_template(self, inputs: EksGpuPoolInputs) -> aws.ec2.LaunchTemplate:
        settings: dict[str, Any] = {}
        if inputs.efa:
            efa_group = declare_efa_group(self._name, inputs.vpc_id, self._children, inputs.tags)
            groups = [inputs.cluster_security_group_id or "", efa_group.id]
            settings["network_interfaces"] = launch_template.efa_interfaces(
                inputs.efa.interfaces, inputs.efa.cards, [*groups, *inputs.security_group_ids]
            )
        elif inputs.security_group_ids:
            cluster_group = inputs.cluster_security_group_id or ""
            settings["vpc_security_group_ids"] = [cluster_group, *inputs.security_group_ids]
        if inputs.placement_group:
            settings["placement"] = {"group_name": self._declare_placement_group(inputs).name}
        if machine_in_template(inputs.capacity):
            settings["instance_type"] = inputs.machine
        return aws.ec2.LaunchTemplate(
            f"{self._name}-nodes",
            name=inputs.launch_template_name or None,
            update_default_version=True,
            image_id=inputs.own_image.id if inputs.own_image else None,
            metadata_options=launch_template.metadata_options(),
            block_device_mappings=launch_template.root_volume(
                inputs.disk_gib, inputs.disk_kms_key, inputs.disk_speed
            ),
            instance_market_options=launch_template.market_options(inputs.capacity),
            capacity_reservation_specification=launch_template.reservation_target(
                inputs.capacity, inputs.reservation_id
            ),
            user_data=inputs.user_data or None,
            tag_specifications=launch_template.tag_specifications(
                {**inputs.tags, "Name": inputs.pool_name}
            ),
            tags=inputs.tags,
            opts=self._children.options(),
            **settings,
        )

    def _declare_node_group(
        self, inputs: EksGpuPoolInputs, template: aws.ec2.LaunchTemplate, desired: pulumi.Input[int]
    ) -> aws.eks.NodeGroup:
        counts = inputs.counts
        grants: list[pulumi.Resource] = []
        if inputs.grant_key_use and inputs.disk_kms_key is not None:
            key, role = inputs.disk_kms_key, inputs.node_role_arn
            grants = [declare_volume_grant(f"{self._name}-volumes", key, role, self._children)]
        return aws.eks.NodeGroup(
            fitting(f"{self._name}-nodes", NODE_GROUP_NAME),
            node_group_name=inputs.node_group_name or None,
            cluster_name=inputs.cluster_name,
            node_role_arn=inputs.node_role_arn,
            subnet_ids=inputs.subnet_ids,
            version=inputs.kubernetes_version,
            release_version=inputs.release_version,
            force_update_version=True if inputs.force_update else None,
            ami_type=AMI_TYPE if inputs.own_image else gpu_image(architecture_of(inputs.machine)),
            capacity_type=capacity_type(inputs.capacity),
            instance_types=None if machine_in_template(inputs.capacity) else [inputs.machine],
            scaling_config={
                "min_size": counts.min,
                "desired_size": desired,
                "max_size": counts.max,
            },
            # If no additional machine is available, a full pool can't add a node first, so EKS
            # removes a node and then adds one.
            update_config={
                "max_unavailable": inputs.max_unavailable,
                "update_strategy": inputs.update_strategy,
            },
            node_repair_config=inputs.node_repair,
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            labels=inputs.labels,
            taints=[
                {"key": t.key, "value": t.value, "effect": cloud_effect(t)} for t in inputs.taints
            ],
            tags=inputs.tags,
            opts=self._children.options(
                depends_on=grants,
                # Purchased machines exist only once, so the replacement waits until the old nodes
                # are gone.
                delete_before_replace=True if is_bought(inputs.capacity) else None,
                ignore_changes=["subnetIds"] if inputs.keep_subnets else None,
                custom_timeouts=waiting(counts.max, inputs.max_unavailable, EVICTION_MINUTES),
            ),
        )

    def _sizes(self, inputs: EksGpuPoolInputs) -> tuple[pulumi.Input[int], list[Action]]:
        """Return the node count to request now, and the settings that change it later."""
        if inputs.schedule is None:
            return desired_size(
                inputs.counts, inputs.pool_name, inputs.cluster_name, self._children
            ), []
        return follow(inputs.schedule, inputs.counts, inputs.capacity, datetime.now(UTC))

    def _declare_placement_group(self, inputs: EksGpuPoolInputs) -> aws.ec2.PlacementGroup:
        return aws.ec2.PlacementGroup(
            f"{self._name}-placement",
            strategy="cluster",
            tags=inputs.tags,
            opts=self._children.options(),
        )
