"""Inputs of EksGpuPool and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING, NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.clouds import NodeOrigin, Schedule
from dra_planner.clouds.eks import CLOUD
from dra_planner.errors import CatalogError
from dra_planner.model import Taint
from dra_planner.quantity import amount_fault
from pulumi_dra.eks.boot.custom_image import OwnImage, longest_node, read_joining, read_own_image
from pulumi_dra.eks.boot.mig import mig_instances
from pulumi_dra.eks.boot.node_image import known_machine, read_release
from pulumi_dra.eks.boot.user_data import (
    MOST_BYTES,
    JoiningNode,
    KubeletSettings,
    boot_config,
    read_boot_script,
)
from pulumi_dra.eks.naming import LAUNCH_TEMPLATE_PATTERN, NODE_GROUP_PATTERN, read_tags
from pulumi_dra.eks.pool.capacity import check_capacity, is_bought, read_capacity, read_placement
from pulumi_dra.eks.pool.schedule import PoolSchedule, read_schedule
from pulumi_dra.eks.pool.volumes import GP3_SPEED
from pulumi_dra.eks.rights.key_grants import read_volume_key
from pulumi_dra.inputs.disk_speed import DiskSpeed, read_disk_speed
from pulumi_dra.inputs.key_inputs import read_key_grant
from pulumi_dra.inputs.kubernetes_version import version_check
from pulumi_dra.inputs.machine_facts import MachineFacts, read_machine
from pulumi_dra.inputs.node_repair import NodeRepairLimits, read_node_repair
from pulumi_dra.inputs.plugin_inputs import read_plugin
from pulumi_dra.inputs.pool_inputs import (
    Counts,
    NodeTaint,
    read_counts,
    read_disk_gib,
    read_huge_pages,
    read_kubelet_policies,
    read_labels,
    read_max_pods,
    read_pool_name,
    read_taints,
)
from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    # The SDK's own type, imported only for type checking.
    from pulumi_aws.eks import NodeGroupNodeRepairConfigArgsDict


class EksGpuPoolArgs(TypedDict):
    """Inputs of EksGpuPool."""

    cluster_name: pulumi.Input[str]
    """Name of the cluster."""
    node_role_arn: pulumi.Input[str]
    """IAM role of the nodes."""
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]]
    """Subnets for the nodes, in the pool's zones. Changing these values replaces the pool, because
    EKS can't move a node group to other subnets.
    """
    keep_subnets: NotRequired[bool]
    """Keep the pool in its original subnets if `subnet_ids` changes, for example because you add a
    zone to the network. Default: false.
    """
    machine: str
    """Machine type, for example p5.48xlarge."""
    machine_facts: NotRequired[MachineFacts]
    """Facts about a machine type that isn't in this package's tables."""
    max_nodes: int
    """Maximum number of nodes."""
    min_nodes: NotRequired[int]
    """Minimum number of nodes. Default: 0."""
    desired_nodes: NotRequired[int]
    """Number of nodes when the pool is created. Default: the minimum."""
    autoscaled: NotRequired[bool]
    """Allow an autoscaler to change the number of nodes. If the current number is within the
    limits, Pulumi then keeps this number. Default: false.
    """
    schedule: NotRequired[PoolSchedule]
    """Times at which the pool has desired_nodes. At all other times, the pool has min_nodes. EC2
    Auto Scaling changes the count. Default: always.
    """
    pool_name: NotRequired[str]
    """Name of the pool in the `pulumi-dra/pool` label. Default: the name of the component."""
    node_group_name: NotRequired[str]
    """Name of the node group, if you import the group. Changing this value replaces the group.
    Default: a generated name.
    """
    launch_template_name: NotRequired[str]
    """Name of the launch template, if you import the template with its node group. Changing this
    value replaces both. Default: a generated name.
    """
    capacity: NotRequired[str]
    """Capacity type: on-demand (default), spot, reservation, or capacity-block."""
    reservation_id: NotRequired[pulumi.Input[str]]
    """ID of the capacity reservation or Capacity Block (cr-…)."""
    image: NotRequired[str]
    """Operating system. The only supported value is al2023. With image_id, this input is required,
    and sets the EKS image on which the custom image is based.
    """
    image_id: NotRequired[pulumi.Input[str]]
    """Custom image (ami-…) for the machine type's processor, with /dev/xvda as root device. The
    pool's user data contains the cluster, labels, and taints. Changing the custom image replaces
    the nodes. Changing from the EKS image to a custom image, or vice versa, creates a new node
    group. Default: the EKS image with the NVIDIA driver.
    """
    cluster_endpoint: NotRequired[pulumi.Input[str]]
    """Address of the API server. Required with image_id."""
    cluster_certificate_authority: NotRequired[pulumi.Input[str]]
    """CA certificate of the cluster, in base64. Required with image_id."""
    service_cidr: NotRequired[pulumi.Input[str]]
    """Service CIDR of the cluster. Required with image_id."""
    kubernetes_version: NotRequired[pulumi.Input[str]]
    """Kubernetes version of the nodes. Default: the cluster's version when the pool is created."""
    release_version: NotRequired[str]
    """Image version, for example 1.34.2-20260115. The image must match the nodes' Kubernetes
    version, so change both at the same time. A later version replaces the nodes. EKS doesn't
    support changing back to an earlier version. Default: the newest version when the pool is
    created or its Kubernetes version changes.
    """
    update_strategy: NotRequired[str]
    """Order in which an update replaces nodes: MINIMAL (default, old nodes first, because a full
    pool has no free capacity) or DEFAULT (new nodes first, which needs additional machines).
    """
    max_unavailable: NotRequired[int]
    """Number of nodes that an update replaces at the same time, 1 to 100. Default: 1."""
    force_update: NotRequired[bool]
    """Continue an update even if a PodDisruptionBudget blocks an eviction for 15 minutes. Default:
    false.
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
    cluster_security_group_id: NotRequired[pulumi.Input[str]]
    """Security group of the cluster. Required with EFA, because the launch template then lists all
    security groups.
    """
    vpc_id: NotRequired[pulumi.Input[str]]
    """VPC of the nodes. Required with EFA, because EFA needs a security group."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """Additional security groups for the nodes. Also set cluster_security_group_id, because EKS
    doesn't attach the cluster's security group if you set this input.
    """
    boot_script: NotRequired[str]
    """Shell script, starting with "#!/bin/bash", that runs at the first boot of each instance
    before the node joins, for example for proxies, certificates, or registry mirrors. Don't include
    secrets, because the launch template contains the script as plain text. Changing this value
    replaces the nodes. Default: none.
    """
    placement_group: NotRequired[bool]
    """Place the nodes close together, which requires subnets in one zone. Default: false."""
    max_pods: NotRequired[int]
    """Maximum number of pods per node. Default: the number that EKS computes for the machine
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
    cpu_manager_policy: NotRequired[str]
    """Kubelet CPU manager policy: static (exclusive CPUs for Guaranteed pods that request whole
    CPUs) or none (default). Changing this value creates a new launch template version and replaces
    the nodes.
    """
    topology_manager_policy: NotRequired[str]
    """Kubelet topology manager policy, with cpu_manager_policy static: best-effort (prefers CPUs on
    one NUMA node) or none (default). Stricter policies aren't supported, because the kubelet would
    reject scheduled pods.
    """
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
    """Key that encrypts the root volume. Default: the account's key for EBS."""
    grant_key_use: NotRequired[bool]
    """If disk_kms_key is set, allow EC2 Auto Scaling, which starts the nodes, to use the key. Set
    to false if the key policy already allows this. Default: true.
    """
    node_repair: NotRequired[bool]
    """Allow EKS to replace or reboot broken nodes. To detect broken GPUs, enable node_monitoring in
    the cluster. Default: false.
    """
    repair_limits: NotRequired[NodeRepairLimits]
    """Limits for repairs, and actions for specific faults. Used only with node_repair. Default:
    the EKS limits.
    """
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional node labels."""
    taints: NotRequired[list[pulumi.Input[NodeTaint]]]
    """Additional node taints. Nodes always have the nvidia.com/gpu=present:NoSchedule taint. All
    DaemonSets, including the DRA driver, must tolerate the additional taints.
    """
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all taggable resources, including instances and volumes."""


class Efa(Struct, frozen=True, kw_only=True):
    """A machine's EFA interfaces and network cards. There can be one more card than interfaces."""

    interfaces: int
    cards: int


class EksGpuPoolInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values, and with computed labels, MIG configuration, and
    EFA.
    """

    cluster_name: pulumi.Input[str]
    node_role_arn: pulumi.Input[str]
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]]
    keep_subnets: bool
    machine: str
    counts: Counts
    schedule: Schedule | None
    pool_name: str
    node_group_name: str  # "" for a generated one
    launch_template_name: str
    capacity: str
    reservation_id: pulumi.Input[str] | None
    own_image: OwnImage | None  # None: the EKS image
    kubernetes_version: pulumi.Input[str] | None
    release_version: str | None
    update_strategy: str
    max_unavailable: int
    force_update: bool
    efa: Efa | None
    cluster_security_group_id: pulumi.Input[str] | None
    vpc_id: pulumi.Input[str] | None
    security_group_ids: list[pulumi.Input[str]]
    user_data: pulumi.Input[str]
    placement_group: bool
    disk_gib: int
    disk_speed: DiskSpeed
    disk_kms_key: pulumi.Input[str] | None
    grant_key_use: bool
    node_repair: "NodeGroupNodeRepairConfigArgsDict"
    labels: dict[str, pulumi.Input[str]]
    taints: list[Taint]
    tags: dict[str, pulumi.Input[str]]


def read_gpu_pool_inputs(read: InputReader, name: str) -> EksGpuPoolInputs:
    """Return the checked inputs of the pool called `name`, and record errors in `read`."""
    machine = read.text("machine")
    pool_name = read_pool_name(read, name)
    capacity = read_capacity(read, machine)
    reservation_id = read.identifier("reservation_id", check=CLOUD.reservation_fault)
    if problem := check_capacity(capacity, reservation_id is not None):
        read.refuse("reservation_id", problem)
    counts = read_counts(read, CLOUD)
    nodes = NodeOrigin(
        name=pool_name,
        machine=read_machine(read, CLOUD, machine),
        capacity=capacity,
        plugin=read_plugin(read),
    )
    labels, taints = read_labels(read, CLOUD, nodes), read_taints(read, CLOUD, nodes)
    own_image = read_joining(read, read_own_image(read))
    return EksGpuPoolInputs(
        cluster_name=read.required_identifier("cluster_name"),
        node_role_arn=read.required_identifier(
            "node_role_arn", pattern="arn:.+", meaning="the ARN of a role"
        ),
        subnet_ids=read.identifiers("subnet_ids", required=True),
        keep_subnets=read.flag("keep_subnets", False),
        machine=machine,
        counts=counts,
        schedule=read_schedule(read, counts, capacity),
        pool_name=pool_name,
        node_group_name=_read_node_group_name(read),
        launch_template_name=_read_launch_template_name(read),
        capacity=capacity,
        reservation_id=reservation_id,
        own_image=own_image,
        kubernetes_version=read.identifier("kubernetes_version", check=version_check(CLOUD)),
        release_version=read_release_version(read, machine),
        update_strategy=_read_update_strategy(read, capacity),
        max_unavailable=read.whole("max_unavailable", 1, least=1, most=100),
        force_update=read.flag("force_update", False),
        user_data=_read_user_data(
            read, machine, own_image, {**labels, **CLOUD.added_labels(nodes)}, taints
        ),
        security_group_ids=_read_groups(read),
        efa=read_efa(read, machine),
        cluster_security_group_id=read.identifier("cluster_security_group_id"),
        vpc_id=read.identifier("vpc_id"),
        placement_group=read_placement(read, capacity),
        disk_gib=(disk_gib := read_disk_gib(read, CLOUD)),
        disk_speed=read_disk_speed(read, GP3_SPEED, disk_gib),
        disk_kms_key=read_volume_key(read),
        grant_key_use=read_key_grant(read, "disk_kms_key"),
        node_repair=read_node_repair(read),
        labels=labels,
        taints=taints,
        tags=read_tags(read),
    )


def _read_node_group_name(read: InputReader) -> str:
    return read.text(
        "node_group_name",
        "",
        pattern=NODE_GROUP_PATTERN,
        meaning="a node group name of at most 63 letters, digits, -, and _",
    )


def _read_launch_template_name(read: InputReader) -> str:
    return read.text(
        "launch_template_name",
        "",
        pattern=LAUNCH_TEMPLATE_PATTERN,
        meaning="a launch template name of 3 to 128 letters, digits, and ().-/_",
    )


def _read_update_strategy(read: InputReader, capacity: str) -> str:
    """Return `update_strategy`. DEFAULT starts new nodes first, but bought capacity can't hold
    them.
    """
    strategy = read.choice("update_strategy", ("MINIMAL", "DEFAULT"), "MINIMAL")
    if strategy == "DEFAULT" and is_bought(capacity):
        read.refuse(
            "update_strategy",
            f'must be MINIMAL with "{capacity}" capacity, because DEFAULT starts new nodes '
            "before it terminates old nodes, and a fully used reservation doesn't have "
            "capacity for new nodes",
        )
    return strategy


def read_release_version(read: InputReader, machine: str) -> str | None:
    """Return `release_version`, or None for the newest. It's rejected if it doesn't match the
    nodes' minor version.
    """
    if not read.has("release_version"):
        return None
    release = read_release(read, machine)
    version = read.identifier("kubernetes_version")
    if isinstance(version, str) and release and not release.startswith(f"{version}."):
        read.refuse(
            "release_version", f"{release} doesn't match Kubernetes {version}; change both together"
        )
    return release


def _read_user_data(
    read: InputReader,
    machine: str,
    image: OwnImage | None,
    labels: dict[str, pulumi.Input[str]],
    taints: list[Taint],
) -> pulumi.Input[str]:
    """Return the launch template's user data, or "" if there is none."""
    encode_boot = _read_boot(read, machine)
    encoded = encode_boot(longest_node(labels, taints) if image else None)
    size = len(b64decode(encoded))
    if size > MOST_BYTES:
        read.refuse(
            "boot_script",
            f"generates user data of {size} bytes, but EC2 allows at most {MOST_BYTES}",
        )
    return image.user_data(labels, taints, encode_boot) if image else encoded


def _read_boot(read: InputReader, machine: str) -> Callable[[JoiningNode | None], str]:
    """Return the function that creates user data from a pool's settings and, for a custom image,
    the cluster to join.
    """
    script = read_boot_script(read)
    mig, huge_pages = read_mig(read, machine), read_huge_pages(read, known_machine(machine))
    local_storage = read.choice("local_storage", ("none", "raid0", "mount"), "none")
    kubelet = KubeletSettings(
        max_pods=read_max_pods(read, CLOUD),
        reserved_cpu=read.text("reserved_cpu", "", check=amount_fault),
        reserved_memory=read.text("reserved_memory", "", check=amount_fault),
        policies=read_kubelet_policies(read),
    )
    return lambda joining: boot_config(
        mig=mig,
        local_storage=local_storage,
        kubelet=kubelet,
        huge_pages=huge_pages,
        script=script,
        joining=joining,
    )


def _read_groups(read: InputReader) -> list[pulumi.Input[str]]:
    groups = read.some_identifiers(
        "security_group_ids", pattern="sg-.+", meaning="the ID of a security group"
    )
    if groups and not read.has("cluster_security_group_id"):
        read.refuse(
            "cluster_security_group_id",
            "is required, because EKS doesn't add its security group if the launch template "
            "sets security groups",
        )
    return groups


def read_mig(read: InputReader, machine: str) -> list[list[str] | None]:
    """Return the MIG instances of each GPU, or None for a GPU that stays whole."""
    layout = read.text("mig_layout", "none")
    if layout == "none" or not machine:
        return []
    try:
        return mig_instances(machine, layout)
    except CatalogError as error:
        read.refuse("mig_layout", str(error))
        return []


def read_efa(read: InputReader, machine: str) -> Efa | None:
    """Return the machine's EFA interfaces, or None if they aren't requested or are unknown."""
    if not read.flag("efa", False):
        return None
    for key in ("cluster_security_group_id", "vpc_id"):
        if not read.has(key):
            read.refuse(
                key,
                "is required with efa, because the launch template then sets the security groups",
            )
    found = known_machine(machine)
    if found is None or found.efa_interfaces is None:
        read.refuse("efa", f'the number of EFA interfaces on "{machine}" is unknown')
        return None
    if not found.efa_interfaces:
        read.refuse("efa", f"{machine} doesn't have an EFA interface")
        return None
    return Efa(
        interfaces=found.efa_interfaces, cards=max(found.network_cards or 0, found.efa_interfaces)
    )
