"""Create a GKE cluster and its pools from a fleet and its plan."""

from collections.abc import Collection
from typing import Any

import pulumi

from dra_planner.clouds.gke.capacity import LENT
from dra_planner.clouds.gke.labels import partition_size
from dra_planner.clouds.gke.machines import is_for_accelerators
from dra_planner.drivers.dranet import DRIVER as DRANET
from dra_planner.fleet import Fleet, Pool
from dra_planner.planfile import PlanFile
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.child_options import Children
from pulumi_dra.gke.cluster.cluster import GkeCluster
from pulumi_dra.gke.cluster.cluster_inputs import GkeClusterArgs, read_cluster_inputs
from pulumi_dra.gke.cluster.storage import volumes_for
from pulumi_dra.gke.pool.gpu_pool import GkeGpuPool
from pulumi_dra.gke.pool.gpu_pool_inputs import GkeGpuPoolArgs, read_gpu_pool_inputs
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.planned_pools import planned_pool_args, pods_range_fault, pools_to_build
from pulumi_dra.platform.platform_inputs import DraPlatformInputs
from pulumi_dra.storage_class import declare_storage_class

CLUSTER_INPUTS = {"tags": "resource_labels", "secrets_kms_key": "secrets_kms_key"}
"""The names of `DraPlatform`'s common inputs → their names in `GkeCluster`. Inputs that are missing
here don't apply to GKE.
"""


def check_cluster(
    read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
) -> None:
    """Record in `read` which inputs the cluster and the pools would reject, before any resource is
    declared.
    """
    if read.has("autoscaler"):
        read.refuse("autoscaler", "applies only to EKS, because GKE has its own autoscaler")
    named = fleet.named_zones
    later = pulumi.Output.from_input("")
    zones: list[pulumi.Input[str]] = [*named, *[later] * (fleet.zone_count - len(named))]
    of_cluster = read.inside("cluster", cluster_args(fleet, inputs, zones), GkeClusterArgs)
    # the ranges of an existing subnet are unknown
    of_its_own = read_cluster_inputs(of_cluster)
    if of_its_own.network is None and (
        fault := pods_range_fault(fleet, plan, of_its_own.ranges.pods_cidr)
    ):
        of_cluster.refuse("pods_cidr", str(fault))
    for pool in pools_to_build(fleet, plan):
        args = pool_args(
            inputs, fleet, plan, pool, zones, cluster_name=later, service_account=later
        )
        read_gpu_pool_inputs(read.inside(f"pools.{pool.name}", args, GkeGpuPoolArgs), pool.name)


def declare_cluster(
    name: str, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, children: Children
) -> BuiltCluster:
    """Declare the cluster and its pools. A pool without its own zones spans the network's zones."""
    zones = _network_zones(fleet, children)
    cluster = GkeCluster(
        f"{name}-cluster", cluster_args(fleet, inputs, zones), opts=children.options()
    )
    # The state of an imported pool contains its cluster's name without a path. Any other text would
    # replace the pool (hashicorp/terraform-provider-google@v7.45.0,
    # resource_container_node_pool.go).
    named = cluster.name if inputs.cluster.get("imported") else cluster.cluster_id
    pools: list[pulumi.Resource] = [
        GkeGpuPool(
            f"{name}-{pool.name}",
            pool_args(
                inputs,
                fleet,
                plan,
                pool,
                zones,
                cluster_name=named,
                service_account=cluster.node_service_account,
            ),
            opts=children.options(depends_on=cluster.usable),
        )
        for pool in pools_to_build(fleet, plan)
    ]

    def declare_volumes(options: pulumi.ResourceOptions) -> None:
        volumes = volumes_for(pool.machine.partition("+")[0] for pool in fleet.pools)
        if volumes and inputs.storage_class:
            declare_storage_class(name, volumes, options)

    return BuiltCluster.of(cluster, pools, declare_volumes, cluster.identity)


def cluster_args(
    fleet: Fleet, inputs: DraPlatformInputs, zones: list[pulumi.Input[str]]
) -> GkeClusterArgs:
    """Return the cluster's inputs from the fleet and from the program's options."""
    args: dict[str, Any] = {
        "kubernetes_version": fleet.kubernetes,
        "region": fleet.region,
        "node_zones": zones,
        "public_access_cidrs": list(fleet.endpoint.public_access_cidrs),
        "system_machine": fleet.system_pool.machine,
        "system_count": fleet.system_pool.count,
    }
    return GkeClusterArgs(**args, **inputs.cluster)


def pool_args(
    inputs: DraPlatformInputs,
    fleet: Fleet,
    plan: PlanFile,
    pool: Pool,
    zones: list[pulumi.Input[str]],
    *,
    cluster_name: pulumi.Input[str],
    service_account: pulumi.Input[str],
) -> GkeGpuPoolArgs:
    """Return the inputs of a pool: machine type from the fleet, size from the plan, and location
    from the cluster.
    """
    options = dict(inputs.pools.get(pool.name, {}))
    args: dict[str, Any] = {
        "cluster_name": cluster_name,
        "location": fleet.region,
        "zones": list(pool.zones) or zones,
        "service_account": service_account,
        "resource_labels": inputs.tags,
        "network_devices": fleet.drivers.of(DRANET) is not None,
        **planned_pool_args(fleet, plan, pool, options.pop("labels", {})),
    }
    args["capacity"] = pool.source.kind
    if pool.source.kind in LENT:
        args["min_nodes"] = 0  # GKE starts these nodes for pending pods, regardless of the plan
    if not pool.is_dra:
        args |= _plugin_args(pool)
    if pool.source.reservation:
        args["reservation_name"] = pool.source.reservation
    return GkeGpuPoolArgs(**args, **options)


def _plugin_args(pool: Pool) -> dict[str, Any]:
    """Return the settings of GKE's device plugin for a pool."""
    args: dict[str, Any] = {"mig_partition": size} if (size := partition_size(pool.mig)) else {}
    if pool.sharing:
        args |= {"gpu_sharing": pool.sharing.strategy, "gpu_sharing_clients": pool.sharing.replicas}
    return args


def _is_chosen(zone: str, named: Collection[str]) -> bool:
    return zone not in named and not is_for_accelerators(zone)


def _network_zones(fleet: Fleet, children: Children) -> list[pulumi.Input[str]]:
    """Return the zones of the network: the named zones, and additional zones up to the requested
    number.
    """
    named, count = fleet.named_zones, fleet.zone_count
    if len(named) == count:
        return list(named)
    # this takes seconds, so it runs only if the user sets a number of zones instead of names
    from pulumi_gcp import compute

    available = compute.get_zones_output(
        region=fleet.region, status="UP", opts=children.invoke_options()
    ).names
    chosen = available.apply(
        lambda names: [*named, *(zone for zone in sorted(names) if _is_chosen(zone, named))]
    )
    return [
        *named,
        *(chosen.apply(lambda zones, at=at: zones[at]) for at in range(len(named), count)),
    ]
