"""GKE clusters and node pools of a Terraform plan or state (terraform-provider-google 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.taints_and_disks import taints
from dra_planner.clouds.foreign.terraform import StateResource, TerraformState
from dra_planner.documents.plain_values import block, blocks, labels, listed, number, text, texts

_DRIVER_OFF: Final = "INSTALLATION_DISABLED"


def read_gke(configuration: TerraformState) -> Iterator[ForeignCluster]:
    """Yield the GKE clusters, each with its node pools."""
    facts = {"name": "cluster", "location": "location", "min_master_version": "version"}
    clusters = configuration.clusters(
        "google_container_cluster", "google_container_node_pool", facts
    )
    for cluster in clusters:
        values = cluster.values
        location = text(values.get("location")) or configuration.setting("google", "region")
        zones = texts(values.get("node_locations"))
        zonal = location.count("-") == 2
        own = [
            (text(each.get("name")), each, cluster.address) for each in blocks(values, "node_pool")
        ]
        own += [
            (text(each.values.get("name")), each.values, each.address)
            for each in configuration.of_type("google_container_node_pool")
            if len(clusters) == 1 or _of(each, cluster, clusters)
        ]
        if not values.get("remove_default_node_pool") and "node_config" in values and not own:
            own.append(
                (
                    "default-pool",
                    {**values, "node_count": values.get("initial_node_count")},
                    cluster.address,
                )
            )
        yield ForeignCluster(
            name=configuration.cluster_name(cluster),
            cloud="gke",
            region=location.rpartition("-")[0] if zonal else location,
            autoscaler="gke" if any(block(each, "autoscaling") for _, each, _ in own) else "",
            kubernetes=text(values.get("min_master_version")) or text(values.get("master_version")),
            zones=zones or ((location,) if zonal else ()),
            public_networks=_public_networks(values),
            pools=tuple(_pool(name, each, zones, address) for name, each, address in own),
            charts=configuration.charts,
            notes=tuple(_notes(values)),
        )


def _public_networks(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the authorized networks. The result is empty if the cluster doesn't restrict
    access.
    """
    authorized = blocks(block(values, "master_authorized_networks_config"), "cidr_blocks")
    return tuple(filter(None, (text(each.get("cidr_block")) for each in authorized)))


def _of(pool: StateResource, cluster: StateResource, clusters: list[StateResource]) -> bool:
    """Return whether a pool belongs to a cluster: by the cluster's name or, if the name is missing
    or not unique, by the module.
    """
    given = text(pool.values.get("cluster")).rpartition("/")[2]
    named = [
        each
        for each in clusters
        if given and given == text(each.values.get("name")).rpartition("/")[2]
    ]
    if named == [cluster]:
        return True
    return (cluster in named or not given) and pool.module == cluster.module


def _pool(
    name: str, values: Mapping[str, Any], cluster_zones: tuple[str, ...], address: str
) -> ForeignPool:
    config = block(values, "node_config")
    zones = texts(values.get("node_locations")) or cluster_zones
    minimum, maximum = _counts(values, max(len(zones), 1))
    machine = text(config.get("machine_type"))
    accelerator = block(config, "guest_accelerator")
    if machine.startswith("n1-") and accelerator:
        machine = (
            f"{machine}+{text(accelerator.get('type'))}:{number(accelerator.get('count')) or 1}"
        )
    reservation = block(config, "reservation_affinity")
    is_specific = text(reservation.get("consume_reservation_type")) == "SPECIFIC_RESERVATION"
    spot = config.get("spot") or config.get("preemptible")
    boot = block(config, "boot_disk")
    driver = block(accelerator, "gpu_driver_installation_config").get("gpu_driver_version")
    tainted = taints(listed(config.get("taint")))
    return ForeignPool(
        name=name or address,
        machines=(machine,) if machine else (),
        minimum=minimum,
        maximum=maximum,
        zones=texts(values.get("node_locations")),
        capacity="reservation" if is_specific else "spot" if spot else "on-demand",
        reservation="".join(texts(reservation.get("values"))[:1]) if is_specific else "",
        labels=labels(config.get("labels")),
        taints=tainted.known,
        unread_taints=tainted.unread,
        desired=_desired(values, max(len(zones), 1)),
        disk_gib=number(config.get("disk_size_gb")) or number(boot.get("size_gb")),
        image=text(config.get("image_type")),
        driver_off=_DRIVER_OFF if driver == _DRIVER_OFF else "",
        mig=text(accelerator.get("gpu_partition_size")),
        notes=() if machine else (f"the machine type of {address} is unknown before apply",),
    )


def _counts(values: Mapping[str, Any], zones: int) -> tuple[int | None, int | None]:
    """Return the minimum and maximum number of nodes in all zones. Autoscaler limits without
    `total` are per zone.
    """
    scaling = block(values, "autoscaling")
    if scaling.get("total_max_node_count"):
        return number(scaling.get("total_min_node_count")) or 0, number(
            scaling.get("total_max_node_count")
        )
    if scaling.get("max_node_count"):
        fewest, most = (
            number(scaling.get("min_node_count")) or 0,
            number(scaling.get("max_node_count")),
        )
        return fewest * zones, most * zones if most is not None else None
    count = _desired(values, zones)
    return count, count


def _desired(values: Mapping[str, Any], zones: int) -> int | None:
    """Return the initial number of nodes in all zones."""
    count = number(values.get("node_count"))
    count = number(values.get("initial_node_count")) if count is None else count
    return None if count is None else count * zones


def _notes(values: Mapping[str, Any]) -> Iterator[str]:
    if values.get("enable_autopilot"):
        yield "Autopilot clusters don't support claims"
    if network := text(values.get("subnetwork")) or text(values.get("network")):
        yield (
            f"the network {network} isn't imported, because a fleet on GKE creates its own "
            "network. To use the existing network, set cluster.networkId and cluster.subnetworkId "
            "of pulumi-dra:platform"
        )
    if block(values, "cluster_autoscaling").get("enabled"):
        yield "node auto-provisioning is on, but it doesn't create pools for pods with claims"
