"""Converts a fleet and its plan to a Nimbus cluster with its pools."""

from typing import Any

import pulumi

from dra_planner.fleet import Fleet, Pool
from dra_planner.planfile import PlanFile
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.nimbus.cluster import NimbusCluster, NimbusClusterArgs
from pulumi_dra.nimbus.gpu_pool import NimbusGpuPool, NimbusGpuPoolArgs, read_gpu_pool_inputs
from pulumi_dra.platform.planned_pools import planned_pool_args, pools_to_build
from pulumi_dra.platform.platform_inputs import DraPlatformInputs

CLUSTER_INPUTS = {"tags": "tags"}


def check_cluster(
    read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
) -> None:
    """Record in `read` which inputs the cluster and the pools would reject, before any resource is
    declared.
    """
    read.inside("cluster", cluster_args(fleet, inputs), NimbusClusterArgs)
    for pool in pools_to_build(fleet, plan):
        args = pool_args(inputs, fleet, plan, pool, pulumi.Output.from_input(""))
        read_gpu_pool_inputs(read.inside(f"pools.{pool.name}", args, NimbusGpuPoolArgs), pool.name)


def declare_cluster(
    name: str, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, children: Children
) -> BuiltCluster:
    """Declare the cluster and its pools."""
    cluster = NimbusCluster(f"{name}-cluster", cluster_args(fleet, inputs), opts=children.options())
    pools: list[pulumi.Resource] = [
        NimbusGpuPool(
            f"{name}-{pool.name}",
            pool_args(inputs, fleet, plan, pool, cluster.name),
            children.options(),
        )
        for pool in pools_to_build(fleet, plan)
    ]
    return BuiltCluster.of(cluster, pools)


def cluster_args(fleet: Fleet, inputs: DraPlatformInputs) -> NimbusClusterArgs:
    """Return the cluster's inputs."""
    args: dict[str, Any] = {
        "kubernetes_version": fleet.kubernetes,
        "region": fleet.region,
        "system_machine": fleet.system_pool.machine,
        "system_count": fleet.system_pool.count,
    }
    return NimbusClusterArgs(**args, **inputs.cluster)


def pool_args(
    inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, pool: Pool, cluster: pulumi.Input[str]
) -> NimbusGpuPoolArgs:
    """Return the inputs of a pool."""
    options = dict(inputs.pools.get(pool.name, {}))
    args: dict[str, Any] = {
        "cluster": cluster,
        "halls": list(pool.zones),
        **planned_pool_args(fleet, plan, pool, options.pop("labels", {})),
    }
    if pool.source.reservation:
        args["lease"] = pool.source.reservation
    return NimbusGpuPoolArgs(**args, **options)
