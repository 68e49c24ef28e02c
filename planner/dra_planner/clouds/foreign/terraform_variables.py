"""Write and read the variables of the Terraform modules that create most clusters.

Names of variables: terraform-aws-modules/terraform-aws-eks:variables.tf@v21,
terraform-google-modules/terraform-google-kubernetes-engine:variables.tf@v38,
Azure/terraform-azurerm-aks:variables.tf@11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.taints_and_disks import taints
from dra_planner.documents.plain_values import (
    block,
    blocks,
    labels,
    listed,
    named_blocks,
    number,
    text,
    texts,
)
from dra_planner.model import Taint

_GROUPS: Final = "eks_managed_node_groups"
_CAPACITY: Final = {"on-demand": "ON_DEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}
_EFFECTS: Final = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}


def is_terraform_variables(data: Any) -> bool:
    """Return whether plain data sets the pools of one of the modules."""
    return isinstance(data, Mapping) and (
        _GROUPS in data or isinstance(data.get("node_pools"), list | Mapping)
    )


def write_terraform_variables(cluster: ForeignCluster) -> dict[str, Any]:
    """Return the variables of the module for the cluster's cloud."""
    return _WRITE[cluster.cloud](cluster)


def read_terraform_variables(data: Mapping[str, Any]) -> ForeignCluster:
    """Return the cluster that variables describe."""
    if _GROUPS in data:
        return _read_eks(data)
    return _read_gke(data) if isinstance(data["node_pools"], list) else _read_aks(data)


def _write_eks(cluster: ForeignCluster) -> dict[str, Any]:
    groups = {pool.name: _eks_group(pool) for pool in cluster.pools}
    return {
        "name": cluster.name,
        "region": cluster.region,
        "kubernetes_version": cluster.kubernetes,
        _GROUPS: groups,
    }


def _eks_group(pool: ForeignPool) -> dict[str, Any]:
    group: dict[str, Any] = {
        "instance_types": list(pool.machines),
        "min_size": pool.minimum,
        "max_size": pool.maximum,
        "capacity_type": _CAPACITY.get(pool.capacity, "ON_DEMAND"),
        "labels": dict(pool.labels),
        "taints": {each.key.replace("/", "_"): _taint(each) for each in pool.taints},
    }
    if pool.reservation:
        target = {"capacity_reservation_target": {"capacity_reservation_id": pool.reservation}}
        group["capacity_reservation_specification"] = target
    if pool.capacity == "capacity-block":
        group["instance_market_options"] = {"market_type": "capacity-block"}
    return group


def _taint(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": _EFFECTS[taint.effect]}


def _read_eks(data: Mapping[str, Any]) -> ForeignCluster:
    capacities = {written: capacity for capacity, written in _CAPACITY.items()}
    pools = []
    for name, group in named_blocks(data, _GROUPS):
        target = block(
            block(group, "capacity_reservation_specification"), "capacity_reservation_target"
        )
        reservation = text(target.get("capacity_reservation_id"))
        capacity = capacities.get(text(group.get("capacity_type")), "on-demand")
        tainted = taints(_items(group.get("taints")))
        pools.append(
            ForeignPool(
                name=name,
                machines=texts(group.get("instance_types")),
                minimum=number(group.get("min_size")),
                maximum=number(group.get("max_size")),
                capacity="reservation" if reservation and capacity == "on-demand" else capacity,
                reservation=reservation,
                labels=labels(group.get("labels")),
                taints=tainted.known,
                unread_taints=tainted.unread,
                desired=number(group.get("desired_size")),
                disk_gib=number(group.get("disk_size"))
                or _first_disk(block(group, "block_device_mappings")),
                image=text(group.get("ami_id")) or text(group.get("ami_type")),
            )
        )
    return ForeignCluster(
        name=text(data.get("name")) or text(data.get("cluster_name")),
        cloud="eks",
        region=text(data.get("region")),
        kubernetes=text(data.get("kubernetes_version")) or text(data.get("cluster_version")),
        pools=tuple(pools),
    )


def _first_disk(mappings: Mapping[str, Any]) -> int | None:
    """Return the size of a group's only volume in GiB."""
    rows = list(_items(mappings))
    return number(block(rows[0], "ebs").get("volume_size")) if len(rows) == 1 else None


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else listed(value)


def _write_gke(cluster: ForeignCluster) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "region": cluster.region,
        "kubernetes_version": cluster.kubernetes,
        "node_pools": [_gke_pool(pool) for pool in cluster.pools],
        "node_pools_labels": {
            pool.name: dict(pool.labels) for pool in cluster.pools if pool.labels
        },
        "node_pools_taints": {
            pool.name: [_taint(each) for each in pool.taints]
            for pool in cluster.pools
            if pool.taints
        },
    }


def _gke_pool(pool: ForeignPool) -> dict[str, Any]:
    machine, _, accelerator = pool.machines[0].partition("+")
    kind, _, count = accelerator.partition(":")
    written: dict[str, Any] = {
        "name": pool.name,
        "machine_type": machine,
        "total_min_count": pool.minimum,
        "total_max_count": pool.maximum,
        "spot": pool.capacity == "spot",
    }
    if pool.zones:
        written["node_locations"] = ",".join(pool.zones)
    if accelerator:
        written |= {"accelerator_type": kind, "accelerator_count": int(count)}
    if pool.reservation:
        written["reservation_name"] = pool.reservation
    return written


def _read_gke(data: Mapping[str, Any]) -> ForeignCluster:
    pools = []
    for pool in blocks(data, "node_pools"):
        name, machine = text(pool.get("name")), text(pool.get("machine_type"))
        accelerator = text(pool.get("accelerator_type"))
        if accelerator and machine.startswith("n1-"):
            machine = f"{machine}+{accelerator}:{number(pool.get('accelerator_count')) or 1}"
        zones = tuple(filter(None, text(pool.get("node_locations")).split(",")))
        factor = max(len(zones), 1)  # limits without `total` are per zone
        fewest, most = number(pool.get("total_min_count")), number(pool.get("total_max_count"))
        reservation = text(pool.get("reservation_name"))
        tainted = taints(listed(block(data, "node_pools_taints").get(name)))
        pools.append(
            ForeignPool(
                name=name,
                machines=(machine,) if machine else (),
                minimum=fewest if fewest is not None else _times(pool.get("min_count"), factor),
                maximum=most if most is not None else _times(pool.get("max_count"), factor),
                zones=zones,
                capacity="reservation"
                if reservation
                else "spot"
                if pool.get("spot")
                else "on-demand",
                reservation=reservation,
                labels=labels(block(data, "node_pools_labels").get(name)),
                taints=tainted.known,
                unread_taints=tainted.unread,
                desired=_times(pool.get("initial_node_count"), factor),
                disk_gib=number(pool.get("disk_size_gb")),
                image=text(pool.get("image_type")),
                driver_off="INSTALLATION_DISABLED"
                if pool.get("gpu_driver_version") == "INSTALLATION_DISABLED"
                else "",
                mig=text(pool.get("gpu_partition_size")),
            )
        )
    return ForeignCluster(
        name=text(data.get("name")),
        cloud="gke",
        region=text(data.get("region")),
        kubernetes=text(data.get("kubernetes_version")),
        pools=tuple(pools),
    )


def _times(value: Any, factor: int) -> int | None:
    found = number(value)
    return None if found is None else found * factor


def _write_aks(cluster: ForeignCluster) -> dict[str, Any]:
    return {
        "cluster_name": cluster.name,
        "location": cluster.region,
        "kubernetes_version": cluster.kubernetes,
        "node_pools": {pool.name: _aks_pool(pool) for pool in cluster.pools},
    }


def _aks_pool(pool: ForeignPool) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": pool.name,
        "vm_size": pool.machines[0],
        "auto_scaling_enabled": True,
        "min_count": pool.minimum,
        "max_count": pool.maximum,
        "priority": "Spot" if pool.capacity == "spot" else "Regular",
        "node_labels": dict(pool.labels),
        "node_taints": [f"{each.key}={each.value}:{each.effect}" for each in pool.taints],
    }
    return (
        {**written, "zones": [zone.rpartition("-")[2] for zone in pool.zones]}
        if pool.zones
        else written
    )


def _read_aks(data: Mapping[str, Any]) -> ForeignCluster:
    region = text(data.get("location")).replace(" ", "").lower()
    pools = []
    for key, pool in named_blocks(data, "node_pools"):
        is_scaled = pool.get("auto_scaling_enabled") or pool.get("enable_auto_scaling")
        count, machine = number(pool.get("node_count")), text(pool.get("vm_size"))
        tainted = taints(listed(pool.get("node_taints")))
        pools.append(
            ForeignPool(
                name=text(pool.get("name")) or key,
                machines=(machine,) if machine else (),
                minimum=number(pool.get("min_count")) if is_scaled else count,
                maximum=number(pool.get("max_count")) if is_scaled else count,
                zones=tuple(f"{region}-{zone}" for zone in texts(pool.get("zones"))),
                capacity="spot" if pool.get("priority") == "Spot" else "on-demand",
                labels=labels(pool.get("node_labels")),
                taints=tainted.known,
                unread_taints=tainted.unread,
                desired=count,
                disk_gib=number(pool.get("os_disk_size_gb")),
                image=text(pool.get("os_sku")),
                driver_off="gpu_driver None" if pool.get("gpu_driver") == "None" else "",
                mig=text(pool.get("gpu_instance")),
            )
        )
    return ForeignCluster(
        name=text(data.get("cluster_name")),
        cloud="aks",
        region=region,
        kubernetes=text(data.get("kubernetes_version")),
        pools=tuple(pools),
    )


_WRITE: Final[Mapping[str, Callable[[ForeignCluster], dict[str, Any]]]] = {
    "eks": _write_eks,
    "gke": _write_gke,
    "aks": _write_aks,
}
