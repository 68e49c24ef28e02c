"""EKS clusters of eksctl's configuration files (eksctl.io/v1alpha5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool, kubelet_note
from dra_planner.clouds.foreign.taints_and_disks import ReadTaints, taints
from dra_planner.documents.plain_values import (
    block,
    blocks,
    labels,
    listed,
    number,
    text,
    texts,
)


def is_eksctl(item: Mapping[str, Any]) -> bool:
    """Return whether an object is a cluster of eksctl."""
    return item.get("kind") == "ClusterConfig" and text(item.get("apiVersion")).startswith(
        "eksctl.io/"
    )


def read_eksctl(item: Mapping[str, Any]) -> ForeignCluster:
    """Return the cluster of a ClusterConfig with its managed and self-managed node groups."""
    metadata = block(item, "metadata")
    return ForeignCluster(
        name=text(metadata.get("name")),
        cloud="eks",
        region=text(metadata.get("region")),
        kubernetes=str(metadata.get("version") or ""),
        zones=texts(item.get("availabilityZones")),
        subnet_ids=_private_subnets(item),
        pools=tuple(
            _pool(each) for key in ("managedNodeGroups", "nodeGroups") for each in blocks(item, key)
        ),
        notes=tuple(_notes(item)),
    )


def _pool(group: Mapping[str, Any]) -> ForeignPool:
    mixed = block(group, "instancesDistribution")
    machines = (
        texts(group.get("instanceTypes"))
        or texts(mixed.get("instanceTypes"))
        or tuple(filter(None, [text(group.get("instanceType"))]))
    )
    target = block(block(group, "capacityReservation"), "capacityReservationTarget")
    reservation = text(target.get("capacityReservationID"))
    market = text(block(group, "instanceMarketOptions").get("marketType"))
    spot = group.get("spot") or number(mixed.get("onDemandPercentageAboveBaseCapacity")) == 0
    capacity = "reservation" if reservation else "spot" if spot else "on-demand"
    count = number(group.get("desiredCapacity"))
    name = text(group.get("name"))
    tainted = _taints(group.get("taints"))
    return ForeignPool(
        name=name,
        machines=machines,
        minimum=_first(group.get("minSize"), count),
        maximum=_first(group.get("maxSize"), count),
        zones=texts(group.get("availabilityZones")),
        capacity="capacity-block" if market == "capacity-block" else capacity,
        reservation=reservation,
        labels=labels(group.get("labels")),
        taints=tainted.known,
        unread_taints=tainted.unread,
        desired=count,
        disk_gib=number(group.get("volumeSize")),
        image=_image(group),
        max_pods=number(group.get("maxPodsPerNode")),
        notes=tuple(_pool_notes(group, name, machines)),
    )


def _pool_notes(group: Mapping[str, Any], name: str, machines: tuple[str, ...]) -> Iterator[str]:
    if not machines:
        yield f"the node group {name} doesn't set an instance type"
    if kubelet := block(group, "kubeletExtraConfig"):
        yield kubelet_note(name, kubelet)
    if group.get("efaEnabled"):
        yield (
            f"pool {name}: efaEnabled isn't imported. To plan and attach EFA interfaces, set "
            "drivers.dranet: true"
        )


def _private_subnets(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the IDs of the cluster's existing private subnets."""
    private = block(block(block(item, "vpc"), "subnets"), "private")
    return tuple(filter(None, (text(block(private, name).get("id")) for name in private)))


def _image(group: Mapping[str, Any]) -> str:
    """Return the image of a group, or "" if eksctl chooses it.

    On GPU machine types, eksctl chooses AL2023 with the NVIDIA driver.
    """
    image, family = text(group.get("ami")), text(group.get("amiFamily"))
    return image or ("" if family == "AmazonLinux2023" else family)


def _taints(written: Any) -> ReadTaints:
    """Return taints, written as a list, or as a map of key to `value:Effect`."""
    if isinstance(written, Mapping):
        split = ((key, *str(value).rpartition(":")[::2]) for key, value in written.items())
        return taints(
            [{"key": key, "value": value, "effect": effect} for key, value, effect in split]
        )
    return taints(listed(written))


def _first(value: Any, otherwise: int | None) -> int | None:
    found = number(value)
    return otherwise if found is None else found


def _notes(item: Mapping[str, Any]) -> Iterator[str]:
    if block(item, "autoModeConfig").get("enabled"):
        yield (
            "EKS Auto Mode is on, but its nodes don't support claims. Plan node groups or "
            "Karpenter instead"
        )
    vpc = block(item, "vpc")
    if text(vpc.get("id")) and not _private_subnets(item):
        yield (
            f"the VPC {text(vpc.get('id'))} isn't imported, because the file doesn't list private "
            "subnets. List their IDs in network.subnetIds"
        )
    if item.get("fargateProfiles"):
        yield "Fargate profiles are skipped, because pods on Fargate can't use devices"
