"""A fleet and its plan → an EKS cluster with its pools."""

from typing import Any

import pulumi
from dra_planner.fleet import CapacityBlock, Fleet, Pool, Reservation
from dra_planner.planfile import PlanFile

from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.children import Children
from pulumi_dra.eks.cluster import EksCluster, EksClusterArgs
from pulumi_dra.eks.gpu_pool import EksGpuPool, EksGpuPoolArgs
from pulumi_dra.eks.zones import subnets_in, wanted_zones


def declare_eks(name: str, fleet: Fleet, plan: PlanFile, extra: dict[str, Any], children: Children) -> BuiltCluster:
    """Declare the cluster and its pools; pools wait for what a node needs to join."""
    cluster = EksCluster(f"{name}-cluster", {**cluster_args(fleet), **extra}, opts=children.options())  # type: ignore[typeddict-item]  # `extra` holds inputs of the same component
    pools: list[pulumi.Resource] = []
    for pool in fleet.pools:
        if plan.pool(pool.name).nodes.max == 0:
            continue  # the fleet allows no node, and a node group must allow one
        options = children.options(depends_on=cluster.nodes_wait_for)
        pools.append(
            EksGpuPool(f"{name}-{pool.name}", pool_args(fleet, plan, pool, cluster, extra["tags"]), opts=options)
        )
    return BuiltCluster(
        name=cluster.name,
        endpoint=cluster.endpoint,
        kubeconfig=cluster.kubeconfig,
        kubeconfig_json=cluster.kubeconfig_json,
        resource=cluster.cluster_resource,
        usable=cluster.usable,
        pools=pools,
    )


def cluster_args(fleet: Fleet) -> EksClusterArgs:
    """Return the cluster's inputs that the fleet decides."""
    args: EksClusterArgs = {
        "kubernetes_version": fleet.kubernetes,
        "public_access_cidrs": list(fleet.endpoint.public_access_cidrs),
        "system_machine": fleet.system_pool.machine,
        "system_count": fleet.system_pool.count,
    }
    if fleet.network.subnet_ids:
        args["subnet_ids"] = list(fleet.network.subnet_ids)
    else:
        args["zones"], args["zone_count"] = wanted_zones(
            fleet.network.zones, [zone for pool in fleet.pools for zone in pool.zones]
        )
    return args


def pool_args(
    fleet: Fleet, plan: PlanFile, pool: Pool, cluster: EksCluster, tags: dict[str, pulumi.Input[str]]
) -> EksGpuPoolArgs:
    """Return the inputs of a pool: its shape from the fleet, its size from the plan, its place from the cluster."""
    nodes = plan.pool(pool.name).nodes
    args: EksGpuPoolArgs = {
        "cluster_name": cluster.name,
        "node_role_arn": cluster.node_role_arn,
        "subnet_ids": pulumi.Output.all(cluster.subnet_ids, cluster.subnet_zones).apply(
            lambda both: list[pulumi.Input[str]](subnets_in(pool.zones, *both))
        ),
        "kubernetes_version": cluster.version,
        "tags": tags,
        "pool_name": pool.name,
        "machine": pool.machine,
        "min_nodes": nodes.min,
        "desired_nodes": nodes.desired,
        "max_nodes": nodes.max,
        "autoscaled": fleet.autoscaler != "none",
        "mig_layout": pool.mig,
    }
    match pool.capacity:
        case Reservation():
            args["capacity"], args["reservation_id"] = "reservation", pool.capacity.reservation
        case CapacityBlock():
            args["capacity"], args["reservation_id"] = "capacity-block", pool.capacity.capacity_block
        case kind:
            args["capacity"] = kind
    return args
