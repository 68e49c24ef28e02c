"""Create Karpenter and its pools from a fleet with `autoscaler: karpenter` and its plan."""

from copy import copy
from typing import Any

import pulumi

from dra_planner.fleet import Fleet, Pool
from dra_planner.planfile import PlanFile
from pulumi_dra.eks.cluster.cluster import EksCluster
from pulumi_dra.eks.karpenter.controller import EksKarpenter
from pulumi_dra.eks.karpenter.controller_inputs import EksKarpenterArgs, read_karpenter_inputs
from pulumi_dra.eks.karpenter.pool import EksKarpenterPool
from pulumi_dra.eks.karpenter.pool_inputs import EksKarpenterPoolArgs, read_karpenter_pool_inputs
from pulumi_dra.eks.pool.fleet_pools import (
    capacity_args,
    has_claimable_efa,
    image_args,
    planned_pods,
    zones_of,
)
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.planned_pools import planned_pool_args, pools_to_build
from pulumi_dra.platform.platform_inputs import DraPlatformInputs

_OF_NODE_GROUPS = ("node_repair", "update_strategy", "force_update", "grant_key_use")
_OF_THE_AUTOSCALER = ("install", "flags")


def check_karpenter(
    read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
) -> None:
    """Record in `read` which inputs Karpenter and its pools would reject, before any resource is
    declared.
    """
    later = pulumi.Output.from_input("")
    for key in _OF_THE_AUTOSCALER:
        if key in inputs.autoscaler:
            read.refuse(
                f"autoscaler.{key}",
                "applies only to the cluster autoscaler, but this fleet uses Karpenter",
            )
    args = karpenter_args(inputs, fleet, later, later, later)
    read_karpenter_inputs(read.inside("autoscaler", args, EksKarpenterArgs))
    for pool in pools_to_build(fleet, plan):
        for key in _OF_NODE_GROUPS:
            if key in inputs.pools.get(pool.name, {}):
                read.refuse(
                    f"pools.{pool.name}.{key}",
                    "applies only to managed node groups, but Karpenter manages this pool",
                )
        pool_inputs = pool_args(inputs, fleet, plan, pool, place={"subnet_ids": [later]})
        read_karpenter_pool_inputs(
            read.inside(f"pools.{pool.name}", pool_inputs, EksKarpenterPoolArgs), pool.name
        )


def declare_karpenter(
    name: str,
    inputs: DraPlatformInputs,
    fleet: Fleet,
    plan: PlanFile,
    cluster: EksCluster,
    options: pulumi.ResourceOptions,
) -> None:
    """Declare Karpenter with the options of resources inside the cluster, and its pools with the
    options of other resources.

    Deleting the cluster doesn't delete the pools' instances. So each pool is deleted explicitly
    while Karpenter runs and can end them.
    """
    karpenter = EksKarpenter(
        f"{name}-karpenter",
        karpenter_args(inputs, fleet, cluster.name, cluster.endpoint, cluster.node_role_arn),
        opts=options,
    )
    staying = copy(options)
    staying.deleted_with = None
    after = pulumi.ResourceOptions.merge(
        staying, pulumi.ResourceOptions(depends_on=[karpenter.release])
    )
    for pool in pools_to_build(fleet, plan):
        place: dict[str, Any] = {
            "instance_profile_name": karpenter.instance_profile_name,
            "subnet_ids": cluster.subnets_in(zones_of(fleet, pool)),
            "cluster_security_group_id": cluster.cluster_security_group_id,
            "vpc_id": cluster.vpc_id,
        }
        EksKarpenterPool(
            f"{name}-{pool.name}", pool_args(inputs, fleet, plan, pool, place), opts=after
        )


def karpenter_args(
    inputs: DraPlatformInputs,
    fleet: Fleet,
    cluster_name: pulumi.Input[str],
    endpoint: pulumi.Input[str],
    node_role_arn: pulumi.Input[str],
) -> EksKarpenterArgs:
    """Return the inputs of Karpenter."""
    args: dict[str, Any] = {
        "cluster_name": cluster_name,
        "cluster_endpoint": endpoint,
        "node_role_arn": node_role_arn,
        "kubernetes_version": fleet.kubernetes,
        "replicas": min(2, fleet.system_pool.count),
        "tags": inputs.tags,
    }
    keys = [
        options["disk_kms_key"] for options in inputs.pools.values() if "disk_kms_key" in options
    ]
    if keys:
        args["volume_key_arns"] = keys
    if boundary := inputs.cluster.get("permissions_boundary_arn"):
        args["permissions_boundary_arn"] = boundary
    options = {
        key: value for key, value in inputs.autoscaler.items() if key not in _OF_THE_AUTOSCALER
    }
    return EksKarpenterArgs(**{**args, **options})


def pool_args(
    inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, pool: Pool, place: dict[str, Any]
) -> EksKarpenterPoolArgs:
    """Return the inputs of a pool: machine type from the fleet, size from the plan, and `place`
    from the cluster.
    """
    given = {
        key: value
        for key, value in inputs.pools.get(pool.name, {}).items()
        if key not in _OF_NODE_GROUPS
    }
    options: dict[str, Any] = {"efa": has_claimable_efa(fleet, pool), **given}
    planned = planned_pool_args(fleet, plan, pool, options.pop("labels", {}))
    nodes = planned.pop("desired_nodes")
    del planned["min_nodes"], planned["autoscaled"]  # Karpenter only keeps this number of nodes
    later = pulumi.Output.from_input("")
    args: dict[str, Any] = {
        "instance_profile_name": later,
        "cluster_security_group_id": later,
        "vpc_id": later,
        **place,
        **planned,
        "nodes": nodes,
        "zone": zones_of(fleet, pool)[0],
        "max_pods": planned_pods(fleet, pool),
        "mig_layout": pool.mig,
        "tags": inputs.tags,
        **{
            f"reserved_{key}": text
            for key, text in pool.reserved.model_dump(exclude_defaults=True).items()
        },
        **capacity_args(pool),
        **image_args(pool),
    }
    return EksKarpenterPoolArgs(**args, **options)
