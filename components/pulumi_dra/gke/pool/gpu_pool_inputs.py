"""Inputs of GkeGpuPool: what they are, and what is wrong with them."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

import pulumi

from dra_planner.clouds import NodeOrigin, PluginServing
from dra_planner.clouds.gke import CLOUD, local_ssds_fault
from dra_planner.errors import CatalogError
from dra_planner.model import Taint
from pulumi_dra.gke.naming import read_resource_labels
from pulumi_dra.gke.network.zones import read_zones
from pulumi_dra.gke.pool.boot_disk import read_boot_disk_speed, read_disk_type
from pulumi_dra.gke.pool.capacity import KINDS, CapacitySettings
from pulumi_dra.gke.pool.machine import GkeMachine, gke_machine
from pulumi_dra.gke.pool.node_counts import check_node_counts
from pulumi_dra.gke.pool.node_system import NodeSystem, read_node_system
from pulumi_dra.gke.pool.placement import read_placement
from pulumi_dra.gke.pool.plugin import read_gke_plugin
from pulumi_dra.inputs.disk_speed import DiskSpeed
from pulumi_dra.inputs.key_inputs import read_key_grant
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

if TYPE_CHECKING:
    # The SDK's own shape; nothing is imported at run time.
    from pulumi_gcp.container import NodePoolPlacementPolicyArgsDict

SURGE_NODES = 20  # terraform-provider-google:website/docs/r/container_node_pool.html.markdown@e03b7622


class GkeGpuPoolArgs(TypedDict):
    """Inputs of GkeGpuPool."""

    cluster_name: pulumi.Input[str]
    """Name or id of the cluster."""
    location: str
    """Region or zone of the cluster."""
    machine: str
    """Machine type, a3-highgpu-8g for example; with GPUs to attach, n1-standard-8+nvidia-tesla-t4:1."""
    zones: list[pulumi.Input[str]]
    """Zones of the nodes."""
    service_account: pulumi.Input[str]
    """Service account of the nodes."""
    max_nodes: int
    """The most nodes the pool may have, in all zones together."""
    min_nodes: NotRequired[int]
    """The fewest nodes the pool may have, in all zones together. Default 0."""
    desired_nodes: NotRequired[int]
    """How many nodes the pool is created with. Default the minimum."""
    autoscaled: NotRequired[bool]
    """Whether GKE's autoscaler changes the number of nodes. Default false: it stays as the plan says."""
    location_policy: NotRequired[str]
    """How the autoscaler spreads nodes over zones: ANY (default, takes GPUs where there are some) or BALANCED.
    Flex-start and queued capacity need ANY."""
    pool_name: NotRequired[str]
    """Name of the pool in the label `pulumi-dra/pool`. Default the component's name."""
    capacity: NotRequired[str]
    """Where machines come from: on-demand (default), spot, reservation, flex-start or queued."""
    reservation_name: NotRequired[pulumi.Input[str]]
    """Name of the reservation, which must exist in every zone of the pool; the whole path for one that another project
    shares, or for one block of it (projects/P/reservations/R/reservationBlocks/B)."""
    max_run_seconds: NotRequired[int]
    """How long a flex-start node may run, up to seven days."""
    compact_placement: NotRequired[bool]
    """Whether nodes are placed close together, in one zone. Default false."""
    placement_policy: NotRequired[str]
    """Name of a resource policy of one's own, in the project and region, that places the nodes close together, in one
    zone: for a topology of a4x, or for several pools. Default: with compact_placement one that GKE makes."""
    host_maintenance: NotRequired[str]
    """When the hosts of the nodes are maintained: PERIODIC, in one window of some hours a month, or AS_NEEDED. Another
    one replaces the pool. Default: what Compute Engine has for the machine."""
    cpu_manager_policy: NotRequired[str]
    """static: Guaranteed pods with whole CPUs have them for themselves; or none (default). Another one makes nodes
    anew, as an upgrade does."""
    topology_manager_policy: NotRequired[str]
    """With static CPUs: best-effort, those of one NUMA node where it can be; or none (default). Stricter ones let
    kubelet turn down pods that were placed."""
    sysctls: NotRequired[dict[str, str]]
    """Parameters of the kernel that GKE lets be set (net.core.somaxconn: "2048"). Others make nodes anew, as an upgrade
    does. Default: GKE's."""
    huge_pages_2mi: NotRequired[int]
    """How many huge pages of 2 MiB nodes reserve at boot, for pods that request hugepages-2Mi: memory that others do
    not have. Others make nodes anew, as an upgrade does. Default none."""
    huge_pages_1gi: NotRequired[int]
    """How many huge pages of 1 GiB. Default none."""
    max_pods: NotRequired[int]
    """The most pods of a node, 8 to 256. Default GKE's, 110."""
    network_devices: NotRequired[bool]
    """Whether GKE's own DRANET publishes the network interfaces of nodes for claims, with those for RDMA where the
    machine has them. Default false."""
    driver_installation: NotRequired[str]
    """disabled, the only one: GKE does not install GPU drivers of its own with DRA; DriverInstaller does."""
    allocation: NotRequired[str]
    """Component that allocates the GPUs: dra (the DRA driver, default) or device-plugin (GKE's device plugin, with
    GKE's driver, for pods that request nvidia.com/gpu). Another one replaces the pool."""
    mig_partition: NotRequired[str]
    """Partition size of every GPU, 1g.10gb for example. Only with allocation device-plugin."""
    gpu_sharing: NotRequired[str]
    """Share each GPU: time-slicing or mps. Only with allocation device-plugin."""
    gpu_sharing_clients: NotRequired[int]
    """Largest number of containers that share a GPU, 2 to 48. Required with gpu_sharing."""
    secure_boot: NotRequired[bool]
    """Whether nodes boot only signed code. Default true; the preloaded driver of Container-Optimized OS is signed,
    a driver of one's own may not be."""
    disk_gib: NotRequired[int]
    """Size of the boot disk. Default 200."""
    local_ssds: NotRequired[int]
    """How many local SSDs of 375 GiB the nodes have as ephemeral storage, on machines that leave a choice (g2, g4,
    a2-highgpu, n1); another number replaces the pool. Default: those that come with the machine."""
    disk_type: NotRequired[str]
    """Type of the boot disk: pd-balanced, pd-ssd, pd-standard or hyperdisk-balanced, as the machine takes it. Default
    the balanced one of the machine's family: Hyperdisk where it takes no Persistent Disk (a3-ultragpu, a4, a4x, g4)."""
    disk_iops: NotRequired[int]
    """Operations of a boot disk in a second, where that is hyperdisk-balanced: 3000 to 160000, 500 for each GiB at
    most. Default: Google's, by size."""
    disk_throughput: NotRequired[int]
    """Throughput of the same in MiB a second, 140 to 2400: an operation for each 4 to 256 KiB. Default: Google's."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts the boot disk. Default: Google's own key."""
    grant_key_use: NotRequired[bool]
    """With disk_kms_key: whether Compute Engine's service agent is given the role on it that it needs, which stays when
    the pool goes. False where it has it. Default true."""
    auto_upgrade: NotRequired[bool]
    """Whether GKE upgrades the nodes. Default true, and false only in a cluster without a release channel; GPU nodes
    that are busy or on a reservation may want maintenance exclusions of the cluster instead."""
    node_version: NotRequired[str]
    """Version of the nodes, 1.35.1-gke.1616000 for example; with auto_upgrade false, where nobody else moves them on. A
    later one upgrades them as max_surge and max_unavailable say. Default: the control plane's when the pool is made."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Further labels of the nodes."""
    max_surge: NotRequired[int]
    """How many nodes more than the pool has an upgrade may start. Default 0, for a full pool has no room."""
    max_unavailable: NotRequired[int]
    """How many nodes an upgrade takes away at once. Default 1; 0 with max_surge."""
    image_streaming: NotRequired[bool]
    """Whether containers start while their images are still read from Artifact Registry. Default false."""
    taints: NotRequired[list[pulumi.Input[NodeTaint]]]
    """Further taints of the nodes, beside nvidia.com/gpu=present:NoSchedule. What runs on every node must tolerate
    them, the DRA driver too."""
    resource_labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Labels of the machines, for billing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GkeGpuPoolInputs:
    """The same, checked, with defaults filled in and machine, capacity and labels worked out."""

    cluster_name: pulumi.Input[str]
    location: str
    machine: GkeMachine
    plugin: PluginServing | None  # None for DRA pools
    zones: list[pulumi.Input[str]]
    service_account: pulumi.Input[str]
    counts: Counts
    location_policy: str
    pool_name: str
    capacity: CapacitySettings
    placement_policy: "NodePoolPlacementPolicyArgsDict | None"
    host_maintenance: str  # "" for Compute Engine's
    system: NodeSystem
    max_pods: int | None
    network_profile: str  # "" for none
    secure_boot: bool
    disk_gib: int
    local_ssds: int  # 0 for those that come with the machine
    disk_type: str  # "" for the machine's own
    disk_speed: DiskSpeed
    disk_kms_key: pulumi.Input[str] | None
    grant_key_use: bool
    auto_upgrade: bool
    node_version: str  # "" for the control plane's
    image_streaming: bool
    labels: dict[str, pulumi.Input[str]]
    taints: list[Taint]
    resource_labels: dict[str, pulumi.Input[str]]


def read_gpu_pool_inputs(read: InputReader, name: str) -> GkeGpuPoolInputs:
    """Return the checked inputs of the pool called `name`; faults are noted in `read`."""
    location = read.text("location", pattern=r"[a-z]+-[a-z]+\d+(-[a-z])?", meaning="a region or a zone")
    zones = read_zones(read, "zones", location)
    if not zones:
        read.refuse("zones", "must name at least one")
    counts = read_counts(read, CLOUD)
    if zones and (complaint := check_node_counts(counts, len(zones))):
        read.refuse("desired_nodes", complaint)
    plugin = read_gke_plugin(read)
    if (installation := read.text("driver_installation", "disabled")) != "disabled":
        read.refuse(
            "driver_installation",
            f'must be disabled, not "{installation}": GKE does not install drivers with DRA; DriverInstaller does',
        )
    policy = read.choice("location_policy", ("ANY", "BALANCED"), "ANY")
    if read.has("location_policy") and not counts.autoscaled:
        read.refuse("location_policy", "is for autoscaled: true; a fixed count is spread evenly")
    pool_name, network_devices = read_pool_name(read, name), read.flag("network_devices", False)
    machine = _read_machine(read)
    capacity = _read_capacity(read, policy, counts.min)
    check_purchase(read, CLOUD, machine.found, capacity.kind)
    _read_surge(read, capacity)
    nodes = NodeOrigin(
        name=pool_name,
        machine=machine.found,
        capacity=capacity.kind,
        network_devices=network_devices,
        plugin=plugin,
    )
    return GkeGpuPoolInputs(
        cluster_name=read.required_identifier("cluster_name"),
        location=location,
        machine=machine,
        plugin=plugin,
        zones=zones,
        service_account=read.required_identifier("service_account"),
        counts=counts,
        location_policy=policy,
        pool_name=pool_name,
        capacity=capacity,
        placement_policy=read_placement(read, len(zones), machine.instance_type, capacity.kind),
        host_maintenance=(
            read.choice("host_maintenance", ("PERIODIC", "AS_NEEDED"), "") if read.has("host_maintenance") else ""
        ),
        system=read_node_system(read, machine.found),
        max_pods=read_max_pods(read, CLOUD),
        network_profile="auto" if network_devices and machine.has_rdma else "",
        secure_boot=read.flag("secure_boot", True),
        disk_gib=read_disk_gib(read, CLOUD),
        local_ssds=_read_local_ssds(read, machine),
        disk_type=(disk_type := read_disk_type(read, machine)),
        disk_speed=read_boot_disk_speed(read, machine, disk_type),
        disk_kms_key=read.identifier("disk_kms_key"),
        grant_key_use=read_key_grant(read, "disk_kms_key"),
        auto_upgrade=read.flag("auto_upgrade", True),
        node_version=_read_version(read),
        image_streaming=read.flag("image_streaming", False),
        labels=read_labels(read, CLOUD, nodes),
        taints=read_taints(read, CLOUD, nodes),
        resource_labels=read_resource_labels(read),
    )


def _read_version(read: InputReader) -> str:
    """With upgrades by GKE a version that is written down would be a difference after each of them
    (hashicorp/terraform-provider-google:website/docs/r/container_node_pool.html.markdown@e03b7622).
    """
    if read.has("node_version") and read.flag("auto_upgrade", True):
        read.refuse("node_version", "is for auto_upgrade: false, which a cluster with release_channel: none allows")
    return read.text(
        "node_version", "", pattern=r"1\.\d+\.\d+-gke\.\d+", meaning="a version of GKE (1.35.1-gke.1616000)"
    )


def _read_local_ssds(read: InputReader, machine: GkeMachine) -> int:
    count = read.whole("local_ssds", least=1, most=32) if read.has("local_ssds") else 0
    if count and machine.found and (fault := local_ssds_fault(machine.instance_type, count)):
        read.refuse("local_ssds", fault)
    return count


def _read_machine(read: InputReader) -> GkeMachine:
    name = read.text("machine")
    try:
        return gke_machine(name)
    except CatalogError as error:
        if name:
            read.refuse("machine", str(error))
        return GkeMachine(name, "", 0)


def _read_surge(read: InputReader, capacity: CapacitySettings) -> None:
    """Set how many nodes an upgrade replaces at once; those that are lent end by themselves instead."""
    surge = read.whole("max_surge", 0, most=SURGE_NODES)
    unavailable = read.whole("max_unavailable", 0 if surge else 1, most=SURGE_NODES)
    given = [key for key in ("max_surge", "max_unavailable") if read.has(key)]
    if given and not capacity.is_repaired:
        read.refuse(given[0], f'is not for capacity "{capacity.kind}": its nodes are upgraded by ending')
    elif not 0 < surge + unavailable <= SURGE_NODES:
        total = surge + unavailable
        read.refuse(given[0], f"max_surge and max_unavailable are together 1 to {SURGE_NODES}, not {total}")
    elif given:
        capacity.replace_at_once(surge, unavailable)


def _read_capacity(read: InputReader, location_policy: str, least: int) -> CapacitySettings:
    kind = read.choice("capacity", KINDS, "on-demand")
    reservation = read.identifier("reservation_name", check=CLOUD.reservation_fault)
    if kind == "reservation" and reservation is None:
        read.refuse("reservation_name", 'is missing: capacity "reservation" needs the name of what was bought')
    if kind != "reservation" and reservation is not None:
        read.refuse("reservation_name", f'is for capacity "reservation", not "{kind}"')
    seconds = read.whole("max_run_seconds", 604_800, least=600, most=604_800)
    if read.has("max_run_seconds") and kind != "flex-start":
        read.refuse("max_run_seconds", f'is for capacity "flex-start", not "{kind}"')
    if kind in ("flex-start", "queued") and not read.flag("autoscaled", False):
        read.refuse("autoscaled", f'must be true with capacity "{kind}": GKE starts its nodes when pods ask')
    elif kind in ("flex-start", "queued") and location_policy != "ANY":
        read.refuse("location_policy", f'must be ANY with capacity "{kind}": machines come from where there are some')
    if kind in ("flex-start", "queued") and least:
        read.refuse("min_nodes", f'must be 0 with capacity "{kind}": GKE starts its nodes when pods ask')
    return CapacitySettings(kind, reservation, seconds)
