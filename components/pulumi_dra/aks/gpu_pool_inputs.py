"""Inputs of AksGpuPool and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import re
from typing import NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import NodeOrigin, PluginServing
from dra_planner.clouds.aks import CLOUD
from dra_planner.clouds.aks.allocatable import MAX_PODS
from dra_planner.clouds.aks.cloud import POOL_NAME
from dra_planner.clouds.aks.gpus import INSTANCE_PROFILES, machine_fault
from dra_planner.clouds.aks.images import IMAGE, image_fault
from dra_planner.clouds.aks.network import subnet_fault
from dra_planner.drivers import every_driver
from dra_planner.errors import CatalogError
from dra_planner.model import Taint
from pulumi_dra.aks.naming import read_tags
from pulumi_dra.aks.node_settings import AgentPoolSettings, read_node_settings
from pulumi_dra.aks.upgrades import Upgrades, read_upgrades
from pulumi_dra.aks.zones import read_zones
from pulumi_dra.inputs.kubernetes_version import version_check
from pulumi_dra.inputs.machine_facts import MachineFacts, read_machine
from pulumi_dra.inputs.plugin_inputs import read_plugin
from pulumi_dra.inputs.pool_inputs import (
    Counts,
    NodeTaint,
    check_purchase,
    read_counts,
    read_disk_gib,
    read_labels,
    read_max_pods,
    read_pool_name,
    read_taints,
)
from pulumi_dra.inputs.reader import InputReader

IMAGES = (IMAGE, "AzureLinux")
SNAPSHOT = (
    r"(?i)/subscriptions/[^/]+/resourceGroups/[^/]+"
    r"/providers/Microsoft\.ContainerService/snapshots/[^/]+"
)
CAPACITIES = tuple(CLOUD.capacities)


class AksGpuPoolArgs(TypedDict):
    """Inputs of AksGpuPool."""

    cluster_name: pulumi.Input[str]
    """Name of the cluster."""
    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    subnet_id: pulumi.Input[str]
    """Subnet of the nodes."""
    location: str
    """Region of the cluster, for example eastus."""
    machine: str
    """Machine type, for example Standard_NC24ads_A100_v4."""
    machine_facts: NotRequired[MachineFacts]
    """Facts about a machine type that isn't in this package's tables."""
    max_nodes: int
    """Maximum number of nodes."""
    min_nodes: NotRequired[int]
    """Minimum number of nodes. Default: 0."""
    desired_nodes: NotRequired[int]
    """Number of nodes when the pool is created. Default: the minimum."""
    autoscaled: NotRequired[bool]
    """Allow the cluster autoscaler to change the number of nodes. Default: false (Pulumi sets the
    planned number).
    """
    kubernetes_version: NotRequired[pulumi.Input[str]]
    """Kubernetes version of the nodes. Default: the cluster's version when the pool is created."""
    pool_name: NotRequired[str]
    """Name of the pool on AKS and in the `pulumi-dra/pool` label. The name has at most 12 lowercase
    letters and digits, and starts with a letter. Default: the name of the component.
    """
    zones: NotRequired[list[str]]
    """Zones for the nodes, for example eastus-1. Default: none, because many GPU sizes aren't
    available in zones.
    """
    capacity: NotRequired[str]
    """Capacity type: on-demand (default), spot, or reservation."""
    reservation_group_id: NotRequired[pulumi.Input[str]]
    """ID of the capacity reservation group. If the group doesn't contain a reservation for the
    machine type, the pool starts without a reservation.
    """
    grant_reservation_use: NotRequired[bool]
    """If reservation_group_id is set, grant the cluster's identity the required Contributor role on
    the group. Set to false if the identity already has the role. Default: true.
    """
    cluster_principal_id: NotRequired[pulumi.Input[str]]
    """Principal ID of the cluster's identity. Required with reservation_group_id, unless
    grant_reservation_use is false.
    """
    image: NotRequired[str]
    """Node image: Ubuntu (default) or AzureLinux. Both contain the GPU driver."""
    snapshot_id: NotRequired[pulumi.Input[str]]
    """Node pool snapshot from which the pool gets its initial node image. Use a snapshot to pin the
    image and its GPU driver. Default: the newest image when the pool is created.
    """
    cpu_manager_policy: NotRequired[str]
    """Kubelet CPU manager policy: none or static. You can't change this value later. Default: none.
    """
    topology_manager_policy: NotRequired[str]
    """Kubelet topology manager policy: none or best-effort. You can't change this value later.
    Default: none.
    """
    pod_max_pids: NotRequired[int]
    """Maximum number of processes in a pod. You can't change this value later. Default: Azure's
    default.
    """
    sysctls: NotRequired[dict[str, str]]
    """Kernel parameters, such as net.core.somaxconn. You can't change these values later. Default:
    Azure's defaults.
    """
    os_disk_type: NotRequired[str]
    """OS disk: Managed (default), or Ephemeral on the machine's own cache or temporary disk."""
    kubelet_disk_type: NotRequired[str]
    """Disk for images, logs, and emptyDir volumes: OS or Temporary (the machine's own NVMe or SSD).
    Default: OS.
    """
    fips: NotRequired[bool]
    """Use FIPS 140-2 images. You can't change this value later. Default: false."""
    pod_subnet_id: NotRequired[pulumi.Input[str]]
    """Subnet of the pods, for clusters with Azure CNI Pod Subnet. Default: pods use the overlay
    network.
    """
    node_soak_minutes: NotRequired[int]
    """Number of minutes that an upgrade waits after each new node, 0 to 30. Default: 0."""
    max_pods: NotRequired[int]
    """Maximum number of pods per node, 10 to 250. Default: 110."""
    disk_gib: NotRequired[int]
    """OS disk size in GiB. Default: 200."""
    encryption_at_host: NotRequired[bool]
    """Encrypt disks and caches at the host. The subscription needs the
    Microsoft.Compute/EncryptionAtHost feature. Default: true.
    """
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional node labels."""
    taints: NotRequired[list[pulumi.Input[NodeTaint]]]
    """Additional node taints. Nodes always have the nvidia.com/gpu=present:NoSchedule taint. All
    DaemonSets, including the DRA driver, must tolerate the additional taints.
    """
    max_surge: NotRequired[int]
    """Number of additional nodes that an upgrade can start. Default: 0, because a full pool has no
    free capacity.
    """
    max_unavailable: NotRequired[int]
    """Number of nodes that an upgrade can remove at the same time. Default: 1, or 0 with max_surge.
    """
    drain_timeout_minutes: NotRequired[int]
    """Number of minutes that an upgrade waits for a node to drain. Default: 30."""
    allocation: NotRequired[str]
    """Software that allocates the GPUs: dra (the DRA driver, default) or device-plugin (the device
    plugin, for pods that request nvidia.com/gpu). Changing this value replaces the pool.
    """
    gpu_instance_profile: NotRequired[str]
    """MIG profile of each GPU: MIG1g, MIG2g, MIG3g, MIG4g, or MIG7g. Requires allocation
    device-plugin.
    """
    gpu_driver: NotRequired[str]
    """Installation of the GPU driver. The only supported value is Install, because the DRA driver
    expects the node image's GPU driver in the root folder (/).
    """
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for the pool and its machines."""


class AksGpuPoolInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values. None means that Azure sets the value."""

    cluster_name: pulumi.Input[str]
    resource_group_name: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    machine: str
    has_gpus: bool
    counts: Counts
    kubernetes_version: pulumi.Input[str] | None
    pool_name: str
    zones: list[str]  # in the form that the API uses
    capacity: str
    reservation_group_id: pulumi.Input[str] | None
    grant_reservation_use: bool
    cluster_principal_id: pulumi.Input[str] | None
    image: str
    snapshot_id: pulumi.Input[str] | None
    instance_profile: str  # "" for whole GPUs
    settings: AgentPoolSettings
    max_pods: int
    disk_gib: int
    encryption_at_host: bool
    labels: dict[str, pulumi.Input[str]]
    taints: list[Taint]
    upgrades: Upgrades | None
    tags: dict[str, pulumi.Input[str]]


def read_gpu_pool_inputs(read: InputReader, name: str) -> AksGpuPoolInputs:
    """Return the checked inputs of the pool called `name`, and record errors in `read`."""
    location = read.text("location", check=CLOUD.region_fault)
    pool_name = read_pool_name(read, name)
    if not re.fullmatch(POOL_NAME, pool_name):
        read.refuse(
            "pool_name",
            "must be at most 12 lowercase letters and digits, beginning with a letter, not "
            f'"{pool_name}"',
        )
    machine = _read_machine(read)
    capacity = read.choice("capacity", CAPACITIES, "on-demand")
    plugin = read_plugin(read)
    nodes = NodeOrigin(name=pool_name, machine=machine, capacity=capacity, plugin=plugin)
    _refuse_other_drivers(read)
    reservation = _read_reservation(read, capacity)
    check_purchase(read, CLOUD, machine, capacity)
    return AksGpuPoolInputs(
        cluster_name=read.required_identifier("cluster_name"),
        resource_group_name=read.required_identifier("resource_group_name"),
        subnet_id=read.identifier("subnet_id", required=True, check=subnet_fault) or "",
        machine=read.text("machine"),
        has_gpus=machine is None or machine.accelerator is not None,
        counts=read_counts(read, CLOUD),
        kubernetes_version=read.identifier("kubernetes_version", check=version_check(CLOUD)),
        pool_name=pool_name,
        zones=read_zones(read, "zones", location),
        capacity=capacity,
        reservation_group_id=reservation,
        grant_reservation_use=read.flag("grant_reservation_use", True),
        cluster_principal_id=read.identifier("cluster_principal_id"),
        image=_read_image(read, machine),
        snapshot_id=read.identifier(
            "snapshot_id", pattern=SNAPSHOT, meaning="the ID of a node pool snapshot"
        ),
        instance_profile=_read_instance_profile(read, plugin),
        settings=read_node_settings(read),
        max_pods=read_max_pods(read, CLOUD) or MAX_PODS,
        disk_gib=read_disk_gib(read, CLOUD),
        encryption_at_host=read.flag("encryption_at_host", True),
        labels=read_labels(read, CLOUD, nodes),
        taints=read_taints(read, CLOUD, nodes),
        upgrades=read_upgrades(read, capacity),
        tags=read_tags(read),
    )


def _read_image(read: InputReader, machine: Machine | None) -> str:
    """Return `image`, rejected if the machine's driver isn't made for that operating system."""
    image = read.choice("image", IMAGES, IMAGE)
    if machine is not None and (fault := image_fault(machine, image)):
        read.refuse("image", str(fault))
    return image


def _read_machine(read: InputReader) -> Machine | None:
    name = read.text("machine")
    try:
        machine = read_machine(read, CLOUD, name) or (
            catalog.machine(CLOUD.name, name) if name else None
        )
    except CatalogError as error:
        read.refuse("machine", str(error))
        return None
    if machine is None or machine.accelerator is None:
        return machine  # a pool without accelerators, whose pods claim only CPUs
    served = any(each.serves_accelerator(machine) for each in every_driver())
    if not served and (fault := machine_fault(machine)):
        read.refuse("machine", fault)
    return machine


def _read_instance_profile(read: InputReader, plugin: PluginServing | None) -> str:
    """Return `gpu_instance_profile`; rejected on DRA pools."""
    if not read.has("gpu_instance_profile"):
        return ""
    if plugin is None:
        read.refuse("gpu_instance_profile", str(CLOUD.unsupported("MIG")))
    return read.choice("gpu_instance_profile", INSTANCE_PROFILES, "")


def _refuse_other_drivers(read: InputReader) -> None:
    if (driver := read.text("gpu_driver", "Install")) != "Install":
        read.refuse(
            "gpu_driver",
            f'must be Install, not "{driver}", because otherwise the DRA driver doesn\'t '
            "find an NVIDIA driver",
        )


def _read_reservation(read: InputReader, capacity: str) -> pulumi.Input[str] | None:
    group = read.identifier("reservation_group_id", check=CLOUD.reservation_fault)
    if capacity == "reservation" and group is None:
        read.refuse(
            "reservation_group_id",
            'is required with "reservation" capacity; set it to the ID of the purchased capacity',
        )
    if capacity != "reservation" and group is not None:
        read.refuse(
            "reservation_group_id", (f'applies only to "reservation" capacity, not to "{capacity}"')
        )
    if group is None and read.has("grant_reservation_use"):
        read.refuse(
            "grant_reservation_use",
            "has no effect without reservation_group_id",
        )
    elif (
        group is not None
        and read.flag("grant_reservation_use", True)
        and not read.has("cluster_principal_id")
    ):
        read.refuse(
            "cluster_principal_id",
            "is required, because the cluster's identity needs a role on the capacity "
            "reservation group",
        )
    return group
