"""A fleet and its plan → a GKE cluster with its pools."""

from typing import Any

import pulumi
from dra_planner.fleet import Fleet, Pool, Reservation
from dra_planner.planfile import PlanFile

from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.children import Children
from pulumi_dra.gke.cluster import GkeCluster, GkeClusterArgs
from pulumi_dra.gke.gpu_pool import GkeGpuPool, GkeGpuPoolArgs


def declare_gke(name: str, fleet: Fleet, plan: PlanFile, extra: dict[str, Any], children: Children) -> BuiltCluster:
    """Declare the cluster and its pools; a pool without zones of its own spans those of the network."""
    zones = _network_zones(fleet, children)
    args: GkeClusterArgs = {
        "kubernetes_version": fleet.kubernetes,
        "region": fleet.region,
        "node_zones": zones,
        "public_access_cidrs": list(fleet.endpoint.public_access_cidrs),
        "system_machine": fleet.system_pool.machine,
        "system_count": fleet.system_pool.count,
        "deletion_protection": extra["deletion_protection"],
        "labels": extra["tags"],
    }
    cluster = GkeCluster(f"{name}-cluster", args, opts=children.options())
    pools: list[pulumi.Resource] = []
    for pool in fleet.pools:
        if plan.pool(pool.name).nodes.max == 0:
            continue  # the fleet allows no node
        placed = pool_args(fleet, plan, pool, cluster, list(pool.zones) or zones, extra["tags"])
        pools.append(GkeGpuPool(f"{name}-{pool.name}", placed, opts=children.options(depends_on=cluster.usable)))
    return BuiltCluster(
        name=cluster.name,
        endpoint=cluster.endpoint,
        kubeconfig=cluster.kubeconfig,
        kubeconfig_json=cluster.kubeconfig_json,
        resource=cluster.cluster_resource,
        usable=cluster.usable,
        pools=pools,
    )


def pool_args(
    fleet: Fleet,
    plan: PlanFile,
    pool: Pool,
    cluster: GkeCluster,
    zones: list[pulumi.Input[str]],
    labels: dict[str, pulumi.Input[str]],
) -> GkeGpuPoolArgs:
    """Return the inputs of a pool: its shape from the fleet, its size from the plan, its place from the cluster."""
    nodes = plan.pool(pool.name).nodes
    args: GkeGpuPoolArgs = {
        "cluster": cluster.cluster_id,
        "location": fleet.region,
        "zones": zones,
        "service_account": cluster.node_service_account,
        "resource_labels": labels,
        "pool_name": pool.name,
        "machine": pool.machine,
        "min_nodes": nodes.min,
        "desired_nodes": nodes.desired,
        "max_nodes": nodes.max,
        "autoscaled": fleet.autoscaler == "gke",
    }
    match pool.capacity:
        case Reservation():
            args["capacity"], args["reservation_name"] = "reservation", pool.capacity.reservation
        case "on-demand" | "spot":
            args["capacity"] = pool.capacity
        case _:  # the fleet's own check refuses Capacity Blocks on GKE
            raise AssertionError(pool.capacity)
    return args


def _network_zones(fleet: Fleet, children: Children) -> list[pulumi.Input[str]]:
    """Return the zones of the network: those named, or as many as asked for, pools' own first."""
    if not isinstance(fleet.network.zones, int):
        return list(fleet.network.zones)
    count = fleet.network.zones
    named = sorted({zone for pool in fleet.pools for zone in pool.zones})
    if len(named) >= count:
        return list(named)
    from pulumi_gcp import compute  # costs seconds, so only where somebody counts instead of naming

    available = compute.get_zones_output(region=fleet.region, status="UP", opts=children.invoke_options()).names
    chosen = available.apply(lambda names: [*named, *(zone for zone in sorted(names) if zone not in named)])
    return [*named, *(chosen.apply(lambda zones, at=at: zones[at]) for at in range(len(named), count))]
