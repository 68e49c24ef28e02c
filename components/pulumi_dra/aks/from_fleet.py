"""Create an AKS cluster and its pools from a fleet and its plan."""

from typing import Any

import pulumi
from msgspec import Struct

from dra_planner.clouds.aks import CLOUD
from dra_planner.clouds.aks.gpus import instance_profile
from dra_planner.fleet import Fleet, Pool
from dra_planner.planfile import PlanFile
from pulumi_dra.aks.address_ranges import PODS
from pulumi_dra.aks.cluster import AksCluster
from pulumi_dra.aks.cluster_inputs import AksClusterArgs, read_cluster_inputs
from pulumi_dra.aks.gpu_pool import AksGpuPool
from pulumi_dra.aks.gpu_pool_inputs import AksGpuPoolArgs, read_gpu_pool_inputs
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.planned_pools import planned_pool_args, pods_range_fault, pools_to_build
from pulumi_dra.platform.platform_inputs import DraPlatformInputs

CLUSTER_INPUTS = {"tags": "tags", "secrets_kms_key": "secrets_kms_key"}
"""The names of `DraPlatform`'s common inputs → their names in `AksCluster`. Inputs that are missing
here don't apply to AKS.
"""


class AksPoolPlace(Struct, frozen=True, kw_only=True):
    """The parts of a cluster that its pools need."""

    cluster_name: pulumi.Input[str]
    resource_group_name: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    principal_id: pulumi.Input[str]


def check_cluster(
    read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
) -> None:
    """Record in `read` which inputs the cluster and the pools would reject, before any resource is
    declared.
    """
    of_cluster = read.inside("cluster", cluster_args(fleet, inputs), AksClusterArgs)
    if fault := pods_range_fault(fleet, plan, read_cluster_inputs(of_cluster).ranges.pods or PODS):
        of_cluster.refuse("pods_cidr", str(fault))
    if read.has("autoscaler"):
        read.refuse(
            "autoscaler", ("applies only to EKS, because AKS runs the cluster autoscaler itself")
        )
    later = pulumi.Output.from_input("")
    place = AksPoolPlace(
        cluster_name=later, resource_group_name=later, subnet_id=later, principal_id=later
    )
    for pool in pools_to_build(fleet, plan):
        args = pool_args(inputs, fleet, plan, pool, place)
        read_gpu_pool_inputs(read.inside(f"pools.{pool.name}", args, AksGpuPoolArgs), pool.name)


def declare_cluster(
    name: str, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, children: Children
) -> BuiltCluster:
    """Declare the cluster and its pools."""
    cluster = AksCluster(f"{name}-cluster", cluster_args(fleet, inputs), opts=children.options())
    place = AksPoolPlace(
        cluster_name=cluster.name,
        resource_group_name=cluster.resource_group_name,
        subnet_id=cluster.subnet_id,
        principal_id=cluster.principal_id,
    )
    pools: list[pulumi.Resource] = []
    # reservation group → the pool that declares the role assignment for the group
    granting: dict[str, pulumi.Resource] = {}
    for pool in pools_to_build(fleet, plan):
        args = pool_args(inputs, fleet, plan, pool, place)
        group, waits = (pool.source.reservation or "").lower(), list(cluster.usable)
        grants = bool(group) and args.get("grant_reservation_use", True)
        if grants and group in granting:  # Azure rejects a second assignment of the same role
            args["grant_reservation_use"] = False
            waits.append(granting[group])
        made = AksGpuPool(f"{name}-{pool.name}", args, opts=children.options(depends_on=waits))
        if grants:
            granting.setdefault(group, made)
        pools.append(made)
    return BuiltCluster.of(cluster, pools)


def cluster_args(fleet: Fleet, inputs: DraPlatformInputs) -> AksClusterArgs:
    """Return the cluster's inputs from the fleet and from the program's options."""
    args: dict[str, Any] = {
        "kubernetes_version": fleet.kubernetes,
        "location": fleet.region,
        "public_access_cidrs": list(fleet.endpoint.public_access_cidrs),
        "system_machine": fleet.system_pool.machine,
        "system_count": fleet.system_pool.count,
    }
    if fleet.network.subnet_ids:
        args["subnet_id"] = fleet.network.subnet_ids[0]
    else:
        args["system_zones"] = system_zones(fleet)
    return AksClusterArgs(**args, **inputs.cluster)


def system_zones(fleet: Fleet) -> list[str]:
    """Return the zones of the system nodes, which the network sets by name or by number."""
    zones = fleet.network.zones
    return (
        list(zones)
        if isinstance(zones, list)
        else [f"{fleet.region}{each}" for each in CLOUD.zone_suffixes[:zones]]
    )


def pool_args(
    inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, pool: Pool, place: AksPoolPlace
) -> AksGpuPoolArgs:
    """Return the inputs of a pool: machine type from the fleet, size from the plan, and location
    from the cluster.

    Zones come from the pool, or from the zones that the network lists. If the network only has a
    number of zones, the pool uses none, because many GPU sizes aren't available in zones.
    """
    options = dict(inputs.pools.get(pool.name, {}))
    zones = fleet.network.zones
    args: dict[str, Any] = {
        "cluster_name": place.cluster_name,
        "resource_group_name": place.resource_group_name,
        "subnet_id": place.subnet_id,
        "location": fleet.region,
        "kubernetes_version": fleet.kubernetes,
        "zones": list(pool.zones) or (list(zones) if isinstance(zones, list) else []),
        "tags": inputs.tags,
        "capacity": pool.source.kind,
        **planned_pool_args(fleet, plan, pool, options.pop("labels", {})),
    }
    if not pool.is_dra and (profile := instance_profile(pool.mig)):
        args["gpu_instance_profile"] = profile
    if pool.source.reservation:
        args |= {
            "reservation_group_id": pool.source.reservation,
            "cluster_principal_id": place.principal_id,
        }
    return AksGpuPoolArgs(**args, **options)
