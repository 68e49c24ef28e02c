"""A pool of GPU machines that Karpenter manages: its NodePool and its EC2NodeClass, sized by a
plan.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from pulumi_dra.child_options import Children
from pulumi_dra.eks.karpenter.objects import API, CLASS_API, node_class_spec, node_pool_spec
from pulumi_dra.eks.karpenter.pool_inputs import (
    EksKarpenterPoolArgs,
    EksKarpenterPoolInputs,
    read_karpenter_pool_inputs,
)
from pulumi_dra.eks.karpenter.spot_role import existing_spot_role
from pulumi_dra.eks.pool.efa_group import declare_efa_group
from pulumi_dra.inputs.reader import InputReader

# `up` reports a wrong subnet, profile, or image, so nobody has to look for missing nodes.
_UNTIL_READY = {"pulumi.com/waitFor": "condition=Ready"}


class EksKarpenterPool(pulumi.ComponentResource):
    """A Karpenter pool with a fixed number of GPU machines for the DRA driver, without the device
    plugin.

    Don't set `deleted_with`, because Karpenter must still run when Pulumi deletes the pool, to
    terminate its instances.
    """

    pool_name: pulumi.Output[str]
    """Name of the pool, its NodePool, and its EC2NodeClass."""
    max_nodes: pulumi.Output[int]
    """Maximum number of nodes."""

    def __init__(
        self, name: str, args: EksKarpenterPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("EksKarpenterPool", name, args, EksKarpenterPoolArgs)
        inputs = read_karpenter_pool_inputs(read, name)
        read.finish()
        super().__init__("pulumi-dra:index:EksKarpenterPool", name, {}, opts)
        self._children = Children(self, opts)
        node_class = self._declare_class(inputs)
        self.node_pool = k8s.apiextensions.CustomResource(
            f"{name}-pool",
            api_version=API,
            kind="NodePool",
            metadata={"name": inputs.pool_name, "annotations": _UNTIL_READY},
            spec=node_pool_spec(inputs),
            opts=self._children.options(depends_on=[node_class]),
        )
        self.pool_name = pulumi.Output.from_input(inputs.pool_name)
        self.max_nodes = pulumi.Output.from_input(inputs.max_nodes)
        self.register_outputs({"pool_name": self.pool_name, "max_nodes": self.max_nodes})

    def _declare_class(self, inputs: EksKarpenterPoolInputs) -> k8s.apiextensions.CustomResource:
        groups = list(inputs.security_group_ids)
        if inputs.efa:
            groups.append(
                declare_efa_group(self._name, inputs.vpc_id, self._children, inputs.tags).id
            )
        placement: pulumi.Output[str] | None = None
        if inputs.placement_group:
            placement = aws.ec2.PlacementGroup(
                f"{self._name}-placement",
                strategy="cluster",
                tags=inputs.tags,
                opts=self._children.options(),
            ).name
        class_name: pulumi.Input[str] = inputs.pool_name
        if inputs.capacity_type == "spot":
            class_name = existing_spot_role(self._children).apply(lambda _: inputs.pool_name)
        return k8s.apiextensions.CustomResource(
            f"{self._name}-class",
            api_version=CLASS_API,
            kind="EC2NodeClass",
            metadata={"name": class_name},
            spec=node_class_spec(inputs, _terms(inputs.subnet_ids), groups, placement),
            opts=self._children.options(),
        )


def _terms(ids: pulumi.Input[list[pulumi.Input[str]]]) -> pulumi.Input[list[Any]]:
    """Return selector terms by ID, each known once its ID is known."""
    if isinstance(ids, list):
        return [{"id": each} for each in ids]
    return pulumi.Output.from_input(ids).apply(lambda known: [{"id": each} for each in known])
