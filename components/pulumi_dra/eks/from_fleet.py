"""Create an EKS cluster and its pools from a fleet and its plan."""

from collections.abc import Callable
from typing import Any

import pulumi
from msgspec import Struct

from dra_planner.clouds.eks.capacity import KARPENTER
from dra_planner.fleet import Fleet, Pool
from dra_planner.planfile import PlanFile
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.child_options import Children
from pulumi_dra.eks.autoscaler.autoscaler_inputs import (
    EksClusterAutoscalerArgs,
    read_autoscaler_inputs,
)
from pulumi_dra.eks.autoscaler.cluster_autoscaler import EksClusterAutoscaler
from pulumi_dra.eks.cluster.cluster import EksCluster
from pulumi_dra.eks.cluster.cluster_inputs import EksClusterArgs, read_cluster_inputs
from pulumi_dra.eks.karpenter.from_fleet import check_karpenter, declare_karpenter
from pulumi_dra.eks.pool.fleet_pools import (
    capacity_args,
    has_claimable_efa,
    image_args,
    planned_pods,
    zones_of,
)
from pulumi_dra.eks.pool.gpu_pool import EksGpuPool
from pulumi_dra.eks.pool.gpu_pool_inputs import EksGpuPoolArgs, read_gpu_pool_inputs
from pulumi_dra.eks.pool.volumes import GP3_CLASS
from pulumi_dra.eks.rights.keys import key_region_fault
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.planned_pools import planned_pool_args, pools_to_build
from pulumi_dra.platform.platform_inputs import DraPlatformInputs
from pulumi_dra.storage_class import declare_storage_class


class EksPoolPlace(Struct, frozen=True, kw_only=True):
    """The parts of a cluster that its pools need."""

    cluster_name: pulumi.Input[str]
    node_role_arn: pulumi.Input[str]
    subnets_in: Callable[
        [list[str]], pulumi.Input[list[pulumi.Input[str]]]
    ]  # subnets in these zones, or all subnets if no zone is named
    kubernetes_version: pulumi.Input[str]
    cluster_security_group_id: pulumi.Input[str]
    vpc_id: pulumi.Input[str]
    endpoint: pulumi.Input[str]
    certificate_authority: pulumi.Input[str]
    service_cidr: pulumi.Input[str]


CLUSTER_INPUTS = {
    "tags": "tags",
    "secrets_kms_key": "secrets_kms_key",
    "admin_principal_arns": "admin_principal_arns",
    "addon_versions": "addon_versions",
    "node_repair": "node_monitoring",
}
"""The names of `DraPlatform`'s common inputs → their names in `EksCluster`. Inputs that are missing
here don't apply to EKS.
"""


def check_cluster(
    read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
) -> None:
    """Record in `read` which inputs the cluster and the pools would reject, before any resource is
    declared.
    """
    read_cluster_inputs(read.inside("cluster", cluster_args(fleet, inputs), EksClusterArgs))
    _check_keys(read, inputs, fleet)
    # Values that are known only after the cluster exists. The version comes from the fleet.
    later = pulumi.Output.from_input("")
    if installs_autoscaler(inputs, fleet):
        given = read.inside(
            "autoscaler", autoscaler_args(inputs, fleet, later), EksClusterAutoscalerArgs
        )
        read_autoscaler_inputs(given)
    elif fleet.autoscaler == "none" and read.has("autoscaler"):
        read.refuse(
            "autoscaler",
            (
                "applies only to a fleet with autoscaler: cluster-autoscaler or autoscaler: "
                "karpenter"
            ),
        )
    place = EksPoolPlace(
        cluster_name=later,
        node_role_arn=later,
        subnets_in=lambda zones: [later],
        kubernetes_version=fleet.kubernetes,
        cluster_security_group_id=later,
        vpc_id=later,
        endpoint=later,
        certificate_authority=later,
        service_cidr=later,
    )
    if fleet.autoscaler == KARPENTER:
        check_karpenter(read, inputs, fleet, plan)
        return
    for pool in pools_to_build(fleet, plan):
        args = pool_args(inputs, fleet, plan, pool, place)
        inner = read.inside(f"pools.{pool.name}", args, EksGpuPoolArgs)
        read_gpu_pool_inputs(inner, pool.name)
        zones = zones_of(fleet, pool)
        if args.get("placement_group") is True and not fleet.network.subnet_ids and len(zones) != 1:
            has = f", and this pool has the zones {' and '.join(zones)}" if zones else ""
            inner.refuse(
                "placement_group",
                f"requires a pool in one zone, because a placement group can't span zones{has}; "
                "in the fleet, set the pool's `zones` to one zone name",
            )


def _check_keys(read: InputReader, inputs: DraPlatformInputs, fleet: Fleet) -> None:
    keys = {"secrets_kms_key": inputs.cluster.get("secrets_kms_key")}
    keys["cluster.disk_kms_key"] = inputs.cluster.get("disk_kms_key")
    keys |= {
        f"pools.{name}.disk_kms_key": options.get("disk_kms_key")
        for name, options in inputs.pools.items()
    }
    for path, key in keys.items():
        if fault := key_region_fault(key, fleet.region):
            read.refuse(path, fault)


def declare_cluster(
    name: str, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, children: Children
) -> BuiltCluster:
    """Declare the cluster and its pools. Pools wait for the resources that a node needs to join."""
    cluster = EksCluster(f"{name}-cluster", cluster_args(fleet, inputs), opts=children.options())
    place = EksPoolPlace(
        cluster_name=cluster.name,
        node_role_arn=cluster.node_role_arn,
        subnets_in=cluster.subnets_in,
        kubernetes_version=cluster.version,
        cluster_security_group_id=cluster.cluster_security_group_id,
        vpc_id=cluster.vpc_id,
        endpoint=cluster.endpoint,
        certificate_authority=cluster.certificate_authority,
        service_cidr=cluster.service_cidr,
    )

    def declare_volumes(options: pulumi.ResourceOptions) -> None:
        if inputs.storage_class and "ebs" in inputs.cluster.get("storage_drivers", []):
            declare_storage_class(name, GP3_CLASS, options)

    if fleet.autoscaler == KARPENTER:

        def declare_with_karpenter(options: pulumi.ResourceOptions) -> None:
            declare_volumes(options)
            declare_karpenter(name, inputs, fleet, plan, cluster, options)

        return BuiltCluster.of(cluster, [], declare_with_karpenter)
    pools: list[pulumi.Resource] = []
    for pool in pools_to_build(fleet, plan):
        args = pool_args(inputs, fleet, plan, pool, place)
        # The role that gets the key's grant is created with the account's first group, which can be
        # the group of the system nodes.
        first = [cluster.system_nodes] if "disk_kms_key" in args else []
        opts = children.options(depends_on=[*cluster.nodes_wait_for, *first])
        pools.append(EksGpuPool(f"{name}-{pool.name}", args, opts=opts))

    def declare_autoscaler(options: pulumi.ResourceOptions) -> None:
        declare_volumes(options)
        if installs_autoscaler(inputs, fleet):
            EksClusterAutoscaler(
                f"{name}-autoscaler", autoscaler_args(inputs, fleet, cluster.name), opts=options
            )

    return BuiltCluster.of(cluster, pools, declare_autoscaler)


def installs_autoscaler(inputs: DraPlatformInputs, fleet: Fleet) -> bool:
    """Return whether this program installs the fleet's autoscaler."""
    return (
        fleet.autoscaler == "cluster-autoscaler"
        and inputs.autoscaler.get("install", True) is not False
    )


def autoscaler_args(
    inputs: DraPlatformInputs, fleet: Fleet, cluster_name: pulumi.Input[str]
) -> EksClusterAutoscalerArgs:
    """Return the inputs of the cluster autoscaler."""
    args: dict[str, Any] = {
        "cluster_name": cluster_name,
        "kubernetes_version": fleet.kubernetes,
        "tags": inputs.tags,
    }
    if boundary := inputs.cluster.get("permissions_boundary_arn"):
        args["permissions_boundary_arn"] = boundary
    options = {key: value for key, value in inputs.autoscaler.items() if key != "install"}
    return EksClusterAutoscalerArgs(**args, **options)


def cluster_args(fleet: Fleet, inputs: DraPlatformInputs) -> EksClusterArgs:
    """Return the cluster's inputs from the fleet and from the program's options."""
    args: dict[str, Any] = {
        "kubernetes_version": fleet.kubernetes,
        "public_access_cidrs": list(fleet.endpoint.public_access_cidrs),
        "system_machine": fleet.system_pool.machine,
        "system_count": fleet.system_pool.count,
        "prefix_delegation": fleet.network.prefix_delegation,
    }
    if fleet.network.subnet_ids:
        args["subnet_ids"] = list(fleet.network.subnet_ids)
    else:
        zones, of_pools = fleet.network.zones, {zone for pool in fleet.pools for zone in pool.zones}
        if isinstance(zones, int):
            args["zone_count"] = zones
        args["zones"] = sorted(of_pools | set(zones if isinstance(zones, list) else []))
    return EksClusterArgs(**args, **inputs.cluster)


def pool_args(
    inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, pool: Pool, place: EksPoolPlace
) -> EksGpuPoolArgs:
    """Return the inputs of a pool: machine type from the fleet, size from the plan, and location
    from the cluster.
    """
    options: dict[str, Any] = {
        "efa": has_claimable_efa(fleet, pool),
        **inputs.pools.get(pool.name, {}),
    }
    args: dict[str, Any] = {
        "cluster_name": place.cluster_name,
        "node_role_arn": place.node_role_arn,
        "subnet_ids": place.subnets_in(zones_of(fleet, pool)),
        # A pool without its own zones doesn't have to move when the network grows.
        "keep_subnets": not pool.zones,
        "tags": inputs.tags,
        "mig_layout": pool.mig,
        **{
            f"reserved_{key}": text
            for key, text in pool.reserved.model_dump(exclude_defaults=True).items()
        },
        **planned_pool_args(fleet, plan, pool, options.pop("labels", {})),
        **capacity_args(pool),
    }
    if pool.image:
        # EKS doesn't configure these nodes, so this pool does, including the maximum number of pods
        # per node.
        args |= {
            **image_args(pool),
            "max_pods": planned_pods(fleet, pool),
            "cluster_endpoint": place.endpoint,
        }
        args |= {
            "cluster_certificate_authority": place.certificate_authority,
            "service_cidr": place.service_cidr,
        }
    else:
        args["kubernetes_version"] = place.kubernetes_version
    if pool.schedule:
        args["schedule"] = pool.schedule.model_dump(exclude_none=True)
    if options.get("efa") or options.get("security_group_ids"):
        args |= {
            "cluster_security_group_id": place.cluster_security_group_id,
            "vpc_id": place.vpc_id,
        }
    return EksGpuPoolArgs(**args, **options)
