"""What DraPlatform takes for single pools beside the fleet."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi

from dra_planner.fleet import Fleet
from pulumi_dra.inputs import InputReader
from pulumi_dra.node_repair import NodeRepairLimits

IN_THE_FLEET = {
    "disk_gib": "diskGib",
    "max_pods": "maxPods",
    "taints": "taints",
    "zones": "zones",
    "capacity": "capacity",
    "mig_layout": "mig",
    "machine": "machine",
    "schedule": "schedule",
}
"""Inputs of a pool that the plan must know of, and what they are called in the fleet."""


class PoolOptions(TypedDict):
    """What a fleet does not say about a pool; its cloud's component says what each input means."""

    name: str
    """Which pool of the fleet."""
    efa: NotRequired[bool]
    """EKS: whether every network card carries EFA. Default: where the fleet has DRANET and the machine has EFA."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """EKS: further security groups of the nodes. Default none."""
    boot_script: NotRequired[str]
    """EKS: shell script that runs on the first boot of each machine before it joins. Default none."""
    placement_group: NotRequired[bool]
    """EKS: whether nodes are placed close together, which needs one zone. Default false."""
    local_storage: NotRequired[str]
    """EKS: what to do with local NVMe disks: none, raid0 or mount. Default none."""
    disk_kms_key_arn: NotRequired[pulumi.Input[str]]
    """EKS: key that encrypts the root volume. Default: the account's key for EBS."""
    node_repair: NotRequired[bool]
    """EKS: whether broken nodes are replaced or rebooted; that a GPU is broken, the cluster tells with node_monitoring.
    Default false."""
    repair_limits: NotRequired[NodeRepairLimits]
    """EKS, with node_repair: when repair stops, and what is done about single faults. Default: as EKS does."""
    disk_iops: NotRequired[int]
    """EKS, and GKE with hyperdisk-balanced: operations of the boot disk in a second. Default 3000."""
    disk_throughput: NotRequired[int]
    """EKS, and GKE with hyperdisk-balanced: MiB of the boot disk in a second. Default: the least of its type."""
    release_version: NotRequired[str]
    """EKS: release of the image, 1.34.2-20260115. Default: the newest when the pool is made or its version changes."""
    update_strategy: NotRequired[str]
    """EKS: how nodes are replaced in an update, MINIMAL (default) or DEFAULT."""
    force_update: NotRequired[bool]
    """EKS: whether an update goes on when a pod does not leave its node. Default false."""
    max_unavailable: NotRequired[int]
    """How many nodes an update takes away at once. Default 1."""
    image: NotRequired[str]
    """AKS: node image, Ubuntu (default) or AzureLinux."""
    encryption_at_host: NotRequired[bool]
    """AKS: whether the host encrypts disks and caches. Default true."""
    drain_timeout_minutes: NotRequired[int]
    """AKS: how long an upgrade waits for the pods of a node. Default 30."""
    grant_reservation_use: NotRequired[bool]
    """AKS: whether the cluster's identity is given a role on the capacity reservation group. Default true."""
    max_surge: NotRequired[int]
    """GKE and AKS: how many nodes more than the pool has an upgrade may start. Default 0."""
    image_streaming: NotRequired[bool]
    """GKE: whether containers start while their images are still read. Default false."""
    max_run_seconds: NotRequired[int]
    """GKE, with flex-start: how long nodes are lent for, 600 to 604800 seconds. Default 604800."""
    compact_placement: NotRequired[bool]
    """GKE: whether nodes are placed close together, which needs one zone. Default false."""
    location_policy: NotRequired[str]
    """GKE: how the autoscaler spreads nodes over zones, ANY or BALANCED. Default ANY."""
    secure_boot: NotRequired[bool]
    """GKE: whether nodes boot only signed code. Default true."""
    auto_upgrade: NotRequired[bool]
    """GKE: whether GKE upgrades the nodes. Default true, and false only without a release channel."""
    node_version: NotRequired[str]
    """GKE, with auto_upgrade false: version of the nodes (1.35.1-gke.1616000). Default: the control plane's."""
    disk_type: NotRequired[str]
    """GKE: type of the boot disk. Default the balanced one that the machine takes."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """GKE: Cloud KMS key that encrypts the boot disk. Default: Google's own key."""
    grant_key_use: NotRequired[bool]
    """With a key of one's own: whether the cloud's services are granted its use. Default true."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Further labels of the nodes, beside those in the fleet, which alone the plan knows of."""


def read_pool_options(read: InputReader, fleet: Fleet | None) -> dict[str, Mapping[str, Any]]:
    """Return options by pool; what they mean is checked with the pool's other inputs."""
    known = [pool.name for pool in fleet.pools] if fleet else []
    options: dict[str, Mapping[str, Any]] = {}
    for index, block in enumerate(read.blocks("pools")):
        for key, name in IN_THE_FLEET.items():
            if key in block:
                read.refuse(f"pools[{index}].{key}", f"must be known to the plan: write it into the fleet, as {name}")
        own = {key: value for key, value in block.items() if key not in IN_THE_FLEET}
        inner = read.inside(f"pools[{index}]", own, PoolOptions)
        name = inner.text("name")
        if fleet and name and name not in known:
            inner.refuse("name", f'"{name}" is not a pool of the fleet; they are {", ".join(known)}')
        if name in options:
            inner.refuse("name", f'"{name}" is there twice')
        options[name] = {key: value for key, value in own.items() if key != "name" and value is not None}
    return options
