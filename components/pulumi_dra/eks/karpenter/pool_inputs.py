"""Inputs of EksKarpenterPool and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import re
from base64 import b64decode
from typing import NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.clouds import NodeOrigin
from dra_planner.clouds.eks import CLOUD
from dra_planner.clouds.eks.capacity import KARPENTER, KARPENTER_CAPACITY_TYPES
from dra_planner.model import Taint
from dra_planner.quantity import amount_fault
from pulumi_dra.eks.boot.custom_image import read_own_image
from pulumi_dra.eks.boot.node_image import NEWEST_IMAGE, known_machine, read_release
from pulumi_dra.eks.boot.user_data import (
    DEFAULT_KUBELET,
    MOST_BYTES,
    KubeletSettings,
    boot_config,
    read_boot_script,
)
from pulumi_dra.eks.naming import read_tags
from pulumi_dra.eks.pool.capacity import check_capacity, read_capacity, read_placement
from pulumi_dra.eks.pool.gpu_pool_inputs import Efa, read_efa, read_mig
from pulumi_dra.eks.pool.volumes import GP3_SPEED
from pulumi_dra.inputs.disk_speed import DiskSpeed, read_disk_speed
from pulumi_dra.inputs.machine_facts import MachineFacts, read_machine
from pulumi_dra.inputs.plugin_inputs import read_plugin
from pulumi_dra.inputs.pool_inputs import (
    NodeTaint,
    read_disk_gib,
    read_huge_pages,
    read_labels,
    read_max_pods,
    read_pool_name,
    read_taints,
)
from pulumi_dra.inputs.reader import InputReader

NAME = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class EksKarpenterPoolArgs(TypedDict):
    """Inputs of EksKarpenterPool."""

    instance_profile_name: pulumi.Input[str]
    """Instance profile of the nodes, an output of EksKarpenter."""
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]]
    """Subnets in the pool's zone for the nodes."""
    cluster_security_group_id: pulumi.Input[str]
    """Security group of the cluster, which the component attaches to the nodes."""
    machine: str
    """Machine type, for example p5.48xlarge."""
    machine_facts: NotRequired[MachineFacts]
    """Facts about a machine type that isn't in this package's tables."""
    nodes: int
    """Number of nodes that Karpenter keeps."""
    max_nodes: int
    """Maximum number of nodes during replacements or scaling. To roll out a new image, Karpenter
    needs a maximum that is higher than `nodes`.
    """
    zone: NotRequired[str]
    """Zone for the nodes. Default: the zones of the subnets. Karpenter then starts each node in the
    cheapest zone.
    """
    pool_name: NotRequired[str]
    """Name of the pool in the `pulumi-dra/pool` label, its NodePool, and its EC2NodeClass. Default:
    the name of the component.
    """
    capacity: NotRequired[str]
    """Capacity type: on-demand (default), spot, reservation, or capacity-block."""
    reservation_id: NotRequired[pulumi.Input[str]]
    """ID of the capacity reservation or Capacity Block (cr-…)."""
    release_version: NotRequired[str]
    """Image version, for example 1.34.2-20260115. Default: the newest version. Karpenter then
    replaces nodes when AWS publishes a newer version.
    """
    image: NotRequired[str]
    """Operating system. The only supported value is al2023. With image_id, this input is required,
    and sets the EKS image on which the custom image is based.
    """
    image_id: NotRequired[pulumi.Input[str]]
    """Custom image (ami-…) for the machine type's processor, with /dev/xvda as root device.
    Default: the EKS image with the NVIDIA driver.
    """
    max_unavailable: NotRequired[int]
    """Number of nodes that Karpenter replaces at the same time when the image or settings change, 0
    to 100. With 0, Karpenter doesn't replace nodes. Default: 1.
    """
    allocation: NotRequired[str]
    """Software that allocates the GPUs: dra (the DRA driver, default) or device-plugin (the device
    plugin, for pods that request nvidia.com/gpu). Changing this value replaces the nodes.
    """
    mig_layout: NotRequired[str]
    """MIG configuration that nodes create at boot: one configuration for all GPUs (all-1g.10gb), or
    one for each device (0-3=all-balanced). Default: none.
    """
    efa: NotRequired[bool]
    """Attach an EFA interface to each network card. Default: false."""
    vpc_id: NotRequired[pulumi.Input[str]]
    """VPC of the nodes. Required with EFA, because EFA needs a security group."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """Additional security groups for the nodes."""
    boot_script: NotRequired[str]
    """Shell script, starting with "#!/bin/bash", that runs at the first boot of each instance
    before the node joins. Don't include secrets. Default: none.
    """
    placement_group: NotRequired[bool]
    """Place the nodes close together. Default: false."""
    max_pods: NotRequired[int]
    """Maximum number of pods per node. Default: the number that Karpenter computes for the machine
    type.
    """
    reserved_cpu: NotRequired[str]
    """CPU that the kubelet reserves for the system ("500m"). Default: only the image's reservation.
    """
    reserved_memory: NotRequired[str]
    """Memory that the kubelet reserves for the system ("2Gi"). Default: only the image's
    reservation.
    """
    huge_pages_2mi: NotRequired[int]
    """Number of 2 MiB huge pages that nodes reserve at boot for pods that request hugepages-2Mi.
    Other pods can't use this memory. A node that can't reserve all pages doesn't join. Default:
    none.
    """
    huge_pages_1gi: NotRequired[int]
    """Number of 1 GiB huge pages. Default: none."""
    disk_gib: NotRequired[int]
    """Root volume size in GiB. Default: 200."""
    disk_iops: NotRequired[int]
    """IOPS for the root volume, 3000 to 80000, and at most 500 per GiB. Default: 3000."""
    disk_throughput: NotRequired[int]
    """Throughput for the root volume in MiB/s, 125 to 2000, and at most 1 per 4 IOPS. Default:
    125.
    """
    local_storage: NotRequired[str]
    """Use of local NVMe disks: none (default), raid0 (one file system for containers), or mount."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Key that encrypts the root volume. The key must be in volume_key_arns of EksKarpenter.
    Default: the account's key for EBS.
    """
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional node labels."""
    taints: NotRequired[list[pulumi.Input[NodeTaint]]]
    """Additional node taints. Nodes always have the nvidia.com/gpu=present:NoSchedule taint."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all taggable resources, including instances and volumes."""


class EksKarpenterPoolInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values, and with computed labels, MIG configuration, and
    EFA.
    """

    instance_profile_name: pulumi.Input[str]
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]]
    security_group_ids: list[pulumi.Input[str]]  # the cluster's first
    machine: str
    nodes: int
    max_nodes: int
    zone: str
    pool_name: str
    capacity_type: str
    reservation_id: pulumi.Input[str] | None
    image_term: dict[str, pulumi.Input[str]]  # selects the image
    max_unavailable: int
    efa: Efa | None
    vpc_id: pulumi.Input[str] | None
    user_data: str  # plain text
    kubelet: KubeletSettings
    placement_group: bool
    disk_gib: int
    disk_speed: DiskSpeed
    local_storage: str
    disk_kms_key: pulumi.Input[str] | None
    labels: dict[str, pulumi.Input[str]]
    taints: list[Taint]
    tags: dict[str, pulumi.Input[str]]


def read_karpenter_pool_inputs(read: InputReader, name: str) -> EksKarpenterPoolInputs:
    """Return the checked inputs of the pool called `name`, and record errors in `read`."""
    machine = read.text("machine")
    pool_name = read_pool_name(read, name)
    if pool_name and not re.fullmatch(NAME, pool_name):
        read.refuse(
            "pool_name",
            f'"{pool_name}" isn\'t a valid NodePool name; use lowercase letters, digits, and -',
        )
    capacity = read_capacity(read, machine)
    reservation_id = read.identifier("reservation_id", check=CLOUD.reservation_fault)
    if problem := check_capacity(capacity, reservation_id is not None):
        read.refuse("reservation_id", problem)
    count = read.whole("nodes")
    most = read.whole("max_nodes", least=1)
    if count > most:
        read.refuse("nodes", f"{count} is more than max_nodes ({most})")
    nodes = NodeOrigin(
        name=pool_name,
        machine=read_machine(read, CLOUD, machine),
        capacity=capacity,
        autoscaler=KARPENTER,
        plugin=read_plugin(read),
    )
    storage = read.choice("local_storage", ("none", "raid0", "mount"), "none")
    groups = _read_groups(read)
    return EksKarpenterPoolInputs(
        instance_profile_name=read.required_identifier("instance_profile_name"),
        subnet_ids=read.identifiers("subnet_ids", required=True),
        security_group_ids=groups,
        machine=machine,
        nodes=count,
        max_nodes=most,
        zone=read.text("zone", "", check=CLOUD.zone_fault),
        pool_name=pool_name,
        capacity_type=KARPENTER_CAPACITY_TYPES[capacity],
        reservation_id=reservation_id,
        image_term=_read_image(read, machine),
        max_unavailable=read.whole("max_unavailable", 1, most=100),
        efa=read_efa(read, machine),
        vpc_id=read.identifier("vpc_id"),
        user_data=_read_user_data(read, machine, storage),
        kubelet=KubeletSettings(
            max_pods=read_max_pods(read, CLOUD),
            reserved_cpu=read.text("reserved_cpu", "", check=amount_fault),
            reserved_memory=read.text("reserved_memory", "", check=amount_fault),
        ),
        placement_group=read_placement(read, capacity),
        disk_gib=(disk_gib := read_disk_gib(read, CLOUD)),
        disk_speed=read_disk_speed(read, GP3_SPEED, disk_gib),
        local_storage=storage,
        disk_kms_key=read.identifier(
            "disk_kms_key", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key"
        ),
        labels=read_labels(read, CLOUD, nodes),
        taints=read_taints(read, CLOUD, nodes),
        tags=read_tags(read),
    )


def _read_groups(read: InputReader) -> list[pulumi.Input[str]]:
    """Return the security groups of the nodes, the cluster's first."""
    cluster_group = read.required_identifier("cluster_security_group_id")
    more_groups = read.some_identifiers(
        "security_group_ids", pattern="sg-.+", meaning="the ID of a security group"
    )
    return [cluster_group, *more_groups]


def _read_image(read: InputReader, machine: str) -> dict[str, pulumi.Input[str]]:
    """Return the selector of the image: its ID, or the EKS alias with an image date, which covers
    all Kubernetes versions.
    """
    own = read_own_image(read)
    if own is not None:
        return {"id": own.id}
    if not read.has("release_version"):
        return {"alias": f"al2023@v{NEWEST_IMAGE}"}
    release = read_release(read, machine)
    return {"alias": f"al2023@v{release.rpartition('-')[2]}"}


def _read_user_data(read: InputReader, machine: str, storage: str) -> str:
    """Return the user data in addition to Karpenter's own, as plain text, or "" if there is
    none.
    """
    script = read_boot_script(read)
    disks = "mount" if storage == "mount" else "none"  # Karpenter itself creates the raid0
    pages = read_huge_pages(read, known_machine(machine))
    encoded = boot_config(
        mig=read_mig(read, machine),
        local_storage=disks,
        kubelet=DEFAULT_KUBELET,
        huge_pages=pages,
        script=script,
    )
    text = b64decode(encoded).decode()
    if len(text.encode()) > MOST_BYTES:
        read.refuse(
            "boot_script",
            f"generates user data of {len(text.encode())} bytes, but EC2 allows at most "
            f"{MOST_BYTES}",
        )
    return text
