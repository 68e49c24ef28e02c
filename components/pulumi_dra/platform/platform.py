"""A complete platform from a fleet and its plan: record, cluster, GPU pools, driver, classes,
device plugin, tenants.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any

import pulumi

from dra_planner.planfile import canonical_text
from pulumi_dra.capacity_plan import CapacityPlan
from pulumi_dra.child_options import Children
from pulumi_dra.cloud_components import components_of
from pulumi_dra.dra.from_fleet import check_in_cluster, declare_in_cluster
from pulumi_dra.inputs.cidrs import unreachable_from_outside
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import (
    EVERY_INPUT,
    DraPlatformArgs,
    read_planned,
    read_platform_inputs,
)

_WAYS_IN = (
    "`pulumi up` from another network fails at the first object inside the cluster. Run `pulumi "
    "up` inside the network, or add your own address to the fleet's endpoint.publicAccessCidrs; on "
    "GKE, cluster.dns_endpoint: true also works (docs/operations/access.md)"
)


class DraPlatform(pulumi.ComponentResource):
    """A cluster with GPU pools of the planned sizes, and a DRA driver for claims."""

    cluster_name: pulumi.Output[str]
    """Name of the cluster."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig (secret), without a token."""
    kubeconfig_json: pulumi.Output[str]
    """Kubeconfig as JSON text."""
    plan_digest: pulumi.Output[str]
    """Digest of the platform's plan."""
    verdict: pulumi.Output[str]
    """Verdict of the plan."""
    pool_max_nodes: pulumi.Output[dict[str, int]]
    """Maximum number of nodes in each pool."""

    def __init__(
        self, name: str, args: DraPlatformArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("DraPlatform", name, args, DraPlatformArgs)
        planned = read_planned(read)
        if planned is None:
            read_platform_inputs(read, None, EVERY_INPUT)
        read.finish()
        assert planned is not None  # otherwise, `finish` has raised an error
        fleet, plan = planned
        cloud = components_of(fleet.cloud)
        inputs = read_platform_inputs(read, fleet, cloud.CLUSTER_INPUTS)
        cloud.check_cluster(read, inputs, fleet, plan)
        check_in_cluster(read, inputs, fleet, plan)
        read.finish()

        super().__init__("pulumi-dra:index:DraPlatform", name, {}, opts)
        closed = unreachable_from_outside(fleet.endpoint.public_access_cidrs)
        if closed and not inputs.cluster.get("dns_endpoint"):
            pulumi.warn(f"{closed}; {_WAYS_IN}", self)
        # Declared first, so that a policy pack can reject the stack before anything is created. All
        # other resources wait for it.
        record = CapacityPlan(
            f"{name}-plan", {"document": canonical_text(plan)}, opts=Children(self, opts).options()
        )
        after_record = pulumi.ResourceOptions(depends_on=[record.recorded])
        children = Children(self, pulumi.ResourceOptions.merge(opts, after_record))
        cluster = cloud.declare_cluster(name, inputs, fleet, plan, children)
        declare_in_cluster(name, inputs, fleet, plan, cluster, children)

        self.cluster_name, self.endpoint = cluster.name, cluster.endpoint
        self.kubeconfig, self.kubeconfig_json = cluster.kubeconfig, cluster.kubeconfig_json
        self.plan_digest, self.verdict = record.digest, record.verdict
        self.pool_max_nodes = pulumi.Output.from_input(
            {row.name: row.nodes.max for row in plan.pools}
        )
        self.register_outputs(
            {
                "cluster_name": self.cluster_name,
                "endpoint": self.endpoint,
                "kubeconfig": self.kubeconfig,
                "kubeconfig_json": self.kubeconfig_json,
                "plan_digest": self.plan_digest,
                "verdict": self.verdict,
                "pool_max_nodes": self.pool_max_nodes,
            }
        )
