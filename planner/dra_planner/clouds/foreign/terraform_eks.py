"""EKS clusters and node groups of a Terraform plan or state (terraform-provider-aws 5 and 6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.taints_and_disks import root_disk_gib, taints
from dra_planner.clouds.foreign.terraform import StateResource, TerraformState
from dra_planner.documents.plain_values import block, labels, listed, number, text, texts

_CAPACITY: Final = {"SPOT": "spot", "CAPACITY_BLOCK": "capacity-block"}
_ARN_REGION: Final = re.compile(r"arn:aws[\w-]*:eks:([\w-]+):")


def read_eks(configuration: TerraformState) -> Iterator[ForeignCluster]:
    """Yield the EKS clusters, each with its managed node groups."""
    facts = {"name": "cluster_name", "version": "version", "region": "region"}
    clusters = configuration.clusters("aws_eks_cluster", "aws_eks_node_group", facts)
    for cluster in clusters:
        groups = [
            each
            for each in configuration.of_type("aws_eks_node_group")
            if _belongs(each, cluster, clusters)
        ]
        yield ForeignCluster(
            name=configuration.cluster_name(cluster),
            cloud="eks",
            region=_region(cluster, configuration),
            kubernetes=text(cluster.values.get("version")),
            pools=tuple(_pool(each, configuration) for each in groups),
            subnet_ids=_subnets(cluster, groups),
            public_networks=_public_networks(block(cluster.values, "vpc_config")),
            charts=configuration.charts,
            notes=tuple(_notes(cluster, configuration)),
        )


def _subnets(cluster: StateResource, groups: list[StateResource]) -> tuple[str, ...]:
    """Return the known subnets of the node groups, or of the cluster if there are none."""
    own = [subnet for each in groups for subnet in texts(each.values.get("subnet_ids"))]
    shared = texts(block(cluster.values, "vpc_config").get("subnet_ids"))
    return tuple(dict.fromkeys(own or shared))


def _public_networks(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the networks that can reach the public endpoint.

    The result is empty without a public endpoint.
    """
    is_public = settings.get("endpoint_public_access")
    return texts(settings.get("public_access_cidrs")) if is_public else ()


def _belongs(group: StateResource, cluster: StateResource, clusters: list[StateResource]) -> bool:
    """Return whether a node group belongs to a cluster: by the cluster's name or, if the name is
    missing or not unique, by the module.
    """
    name = text(group.values.get("cluster_name"))
    named = [each for each in clusters if name and name == each.values.get("name")]
    if len(clusters) == 1 or named == [cluster]:
        return True
    return (cluster in named or not name) and cluster.module.startswith(
        group.module.split(".module.eks_managed_node_group")[0] or "?"
    )


def _region(cluster: StateResource, configuration: TerraformState) -> str:
    arn = _ARN_REGION.match(text(cluster.values.get("arn")))
    return (
        text(cluster.values.get("region"))
        or (arn[1] if arn else "")
        or configuration.setting("aws", "region")
    )


def _pool(group: StateResource, configuration: TerraformState) -> ForeignPool:
    values = group.values
    template = _launch_template(group, configuration)
    scaling = block(values, "scaling_config")
    machines = texts(values.get("instance_types")) or tuple(
        filter(None, [text(template.get("instance_type"))])
    )
    market = text(block(template, "instance_market_options").get("market_type"))
    capacity = _CAPACITY.get(
        text(values.get("capacity_type")) or market.upper().replace("-", "_"), "on-demand"
    )
    target = block(
        block(template, "capacity_reservation_specification"), "capacity_reservation_target"
    )
    reservation = text(target.get("capacity_reservation_id"))
    if reservation and capacity == "on-demand":
        capacity = "reservation"
    name = (
        text(values.get("node_group_name"))
        or text(values.get("node_group_name_prefix"))
        or group.address
    )
    tainted = taints(listed(values.get("taint")))
    return ForeignPool(
        name=name.rstrip("-"),
        machines=machines,
        minimum=number(scaling.get("min_size")),
        maximum=number(scaling.get("max_size")),
        capacity=capacity,
        reservation=reservation,
        labels=labels(values.get("labels")),
        taints=tainted.known,
        unread_taints=tainted.unread,
        desired=number(scaling.get("desired_size")),
        disk_gib=number(values.get("disk_size")) or root_disk_gib(template),
        image=text(template.get("image_id")) or text(values.get("ami_type")),
        notes=()
        if machines
        else (f"the instance type of {group.address} is unknown before apply",),
    )


def _launch_template(group: StateResource, configuration: TerraformState) -> Mapping[str, Any]:
    """Return the values in the group's launch template, which can contain the machine type.

    The result is empty if there is no template.
    """
    wanted = block(group.values, "launch_template")
    candidates = configuration.of_type("aws_launch_template")
    named = [
        each
        for each in candidates
        if (wanted.get("id") and wanted.get("id") == each.values.get("id"))
        or (wanted.get("name") and wanted.get("name") == each.values.get("name"))
    ]
    mentioned = [reference for found in group.references.values() for reference in found]
    named = named or [
        each
        for each in candidates
        if any(ref.startswith(_plain(each.address)) for ref in mentioned)
    ]
    beside = [each for each in candidates if each.module == group.module]
    if not named and group.module and len(beside) == 1:
        return beside[0].values  # modules pass the ID through locals, which a plan doesn't resolve
    same_instance = [each for each in named if each in beside]
    return (same_instance or named)[0].values if named else {}


def _plain(address: str) -> str:
    return re.sub(r"\[[^\]]*\]", "", address)


def _notes(cluster: StateResource, configuration: TerraformState) -> Iterator[str]:
    if block(cluster.values, "compute_config").get("enabled"):
        yield (
            "EKS Auto Mode is on, but its nodes don't support claims. Plan node groups or "
            "Karpenter instead"
        )
    for each in configuration.of_type("aws_autoscaling_group"):
        yield f"{each.address} is skipped, because it's an Auto Scaling group. Add its pool by hand"
