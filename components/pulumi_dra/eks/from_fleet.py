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
        args = pool_args(fleet, plan, pool)
        if args is None:
            continue
        subnets = pulumi.Output.all(cluster.subnet_ids, cluster.subnet_zones).apply(
            lambda both, zones=pool.zones: subnets_in(zones, *both)
        )
        placed: EksGpuPoolArgs = {
            **args,
            "cluster_name": cluster.name,
            "node_role_arn": cluster.node_role_arn,
            "subnet_ids": subnets,
            "kubernetes_version": cluster.version,
            "tags": extra["tags"],
        }
        pools.append(
            EksGpuPool(f"{name}-{pool.name}", placed, opts=children.options(depends_on=cluster.nodes_wait_for))
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


def pool_args(fleet: Fleet, plan: PlanFile, pool: Pool) -> dict[str, Any] | None:
    """Return a pool's inputs that fleet and plan decide; None for a pool that may have no node."""
    nodes = plan.pool(pool.name).nodes
    if nodes.max == 0:
        return None
    args: dict[str, Any] = {
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
            args |= {"capacity": "reservation", "reservation_id": pool.capacity.reservation}
        case CapacityBlock():
            args |= {"capacity": "capacity-block", "reservation_id": pool.capacity.capacity_block}
        case kind:
            args["capacity"] = kind
    return args
