"""Inputs of GkeGpuPool and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import TYPE_CHECKING, NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner import catalog
from dra_planner.clouds import NodeOrigin, PluginServing
from dra_planner.clouds.gke import CLOUD
from dra_planner.clouds.gke.disks import local_ssds_fault
from dra_planner.errors import CatalogError
from dra_planner.model import Taint
from pulumi_dra.gke.naming import NODE_POOL_PATTERN, read_resource_labels
from pulumi_dra.gke.network.zones import read_zones
from pulumi_dra.gke.pool.boot_disk import read_boot_disk_speed, read_disk_type
from pulumi_dra.gke.pool.capacity import KINDS, CapacitySettings
from pulumi_dra.gke.pool.device_plugin import read_gke_plugin
from pulumi_dra.gke.pool.machine import GkeMachine, gke_machine
from pulumi_dra.gke.pool.node_counts import check_node_counts
from pulumi_dra.gke.pool.node_system import NodeSystem, read_node_system
from pulumi_dra.gke.pool.placement import read_placement
from pulumi_dra.inputs.disk_speed import DiskSpeed
from pulumi_dra.inputs.key_inputs import read_key_grant
from pulumi_dra.inputs.machine_facts import MachineFacts, read_machine
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
    # The SDK's own type, imported only for type checking.
    from pulumi_gcp.container import NodePoolPlacementPolicyArgsDict

# terraform-provider-google:website/docs/r/container_node_pool.html.markdown@e03b7622
SURGE_NODES = 20


class GkeGpuPoolArgs(TypedDict):
    """Inputs of GkeGpuPool."""

    cluster_name: pulumi.Input[str]
    """Name or ID of the cluster."""
    location: str
    """Region or zone of the cluster."""
    machine: str
    """Machine type, for example a3-highgpu-8g, or n1-standard-8+nvidia-tesla-t4:1 with attached
    GPUs.
    """
    machine_facts: NotRequired[MachineFacts]
    """Facts about a machine type that isn't in this package's tables."""
    zones: list[pulumi.Input[str]]
    """Zones for the nodes."""
    service_account: pulumi.Input[str]
    """Service account of the nodes."""
    max_nodes: int
    """Maximum number of nodes in all zones."""
    min_nodes: NotRequired[int]
    """Minimum number of nodes in all zones. Default: 0."""
    desired_nodes: NotRequired[int]
    """Number of nodes when the pool is created. Default: the minimum."""
    autoscaled: NotRequired[bool]
    """Allow GKE's autoscaler to change the number of nodes. Default: false (Pulumi sets the planned
    number).
    """
    location_policy: NotRequired[str]
    """Distribution of autoscaled nodes across zones: ANY (default; uses zones with available GPUs)
    or BALANCED (tries to spread nodes evenly). Flex-start and queued capacity require ANY.
    """
    pool_name: NotRequired[str]
    """Name of the pool in the `pulumi-dra/pool` label. Default: the name of the component."""
    node_pool_name: NotRequired[str]
    """Name of the node pool, if you import the pool. Changing this value replaces the pool.
    Default: a generated name.
    """
    capacity: NotRequired[str]
    """Capacity type: on-demand (default), spot, reservation, flex-start, or queued."""
    reservation_name: NotRequired[pulumi.Input[str]]
    """Name of the reservation, which must exist in every zone of the pool. For a reservation in
    another project, or for a single block, use the full path
    (projects/P/reservations/R/reservationBlocks/B).
    """
    max_run_seconds: NotRequired[int]
    """Maximum run time of a flex-start node in seconds, up to seven days."""
    compact_placement: NotRequired[bool]
    """Place the nodes close together in one zone. Default: false."""
    placement_policy: NotRequired[str]
    """Name of a resource policy in the same project and region that places the nodes close together
    in one zone, for example for an a4x topology or for multiple pools. Default: none or, with
    compact_placement, a policy that GKE creates.
    """
    host_maintenance: NotRequired[str]
    """Host maintenance: PERIODIC (one window of a few hours per month) or AS_NEEDED. Changing this
    value replaces the pool. Default: Compute Engine's default for the machine type.
    """
    cpu_manager_policy: NotRequired[str]
    """Kubelet CPU manager policy: static (exclusive CPUs for Guaranteed pods that request whole
    CPUs) or none (default). Changing this value replaces the nodes in the same way as an upgrade.
    """
    topology_manager_policy: NotRequired[str]
    """Kubelet topology manager policy, with cpu_manager_policy static: best-effort (prefers CPUs on
    one NUMA node) or none (default). Stricter policies aren't supported, because the kubelet would
    reject scheduled pods.
    """
    sysctls: NotRequired[dict[str, str]]
    """Kernel parameters that GKE allows (net.core.somaxconn: "2048"). Changing these values
    replaces the nodes in the same way as an upgrade. Default: GKE's values. To remove parameters
    from an existing pool, set an empty mapping.
    """
    huge_pages_2mi: NotRequired[int]
    """Number of 2 MiB huge pages that nodes reserve at boot for pods that request hugepages-2Mi.
    Other pods can't use this memory. Changing this value replaces the nodes in the same way as an
    upgrade. Default: none. If you remove this input later, the nodes keep their pages, so re-create
    the pool.
    """
    huge_pages_1gi: NotRequired[int]
    """Number of 1 GiB huge pages. Default: none."""
    max_pods: NotRequired[int]
    """Maximum number of pods per node, 8 to 256. Default: GKE's 110."""
    network_devices: NotRequired[bool]
    """Publish the nodes' network interfaces for claims through GKE's managed DRANET, including RDMA
    interfaces if the machine type has them. Default: false.
    """
    driver_installation: NotRequired[str]
    """Installation of the GPU driver by GKE. The only supported value is disabled, because
    DriverInstaller installs the driver on DRA nodes.
    """
    allocation: NotRequired[str]
    """Software that allocates the GPUs: dra (the DRA driver, default) or device-plugin (GKE's
    device plugin, with GKE's driver, for pods that request nvidia.com/gpu). Changing this value
    replaces the pool.
    """
    mig_partition: NotRequired[str]
    """Partition size of each GPU, for example 1g.10gb. Requires allocation device-plugin."""
    gpu_sharing: NotRequired[str]
    """Sharing of each GPU: time-slicing or mps. Requires allocation device-plugin."""
    gpu_sharing_clients: NotRequired[int]
    """Maximum number of containers that share a GPU, 2 to 48. Required with gpu_sharing."""
    secure_boot: NotRequired[bool]
    """Run only signed code at boot. The driver in Container-Optimized OS is signed, but other
    drivers might not be signed. Default: true.
    """
    disk_gib: NotRequired[int]
    """Boot disk size in GiB. Default: 200."""
    local_ssds: NotRequired[int]
    """Number of 375 GiB local SSDs for ephemeral storage, on machine types that allow a choice (g2,
    g4, a2-highgpu, n1). Changing this value replaces the pool. Default: the SSDs that are part of
    the machine type.
    """
    disk_type: NotRequired[str]
    """Boot disk type: pd-balanced, pd-ssd, pd-standard, or hyperdisk-balanced, if the machine type
    supports it. Default: pd-balanced, or hyperdisk-balanced for machine families that don't support
    Persistent Disk (a3-ultragpu, a4, a4x, g4).
    """
    disk_iops: NotRequired[int]
    """IOPS for a hyperdisk-balanced boot disk, 3000 to 160000, and at most 500 per GiB. Default:
    Google's value for the disk size. If you remove this input later, existing disks keep their
    IOPS.
    """
    disk_throughput: NotRequired[int]
    """Throughput for a hyperdisk-balanced boot disk in MiB/s, 140 to 2400, with one I/O operation
    per 4 to 256 KiB. Default: Google's value. If you remove this input later, existing disks keep
    their throughput.
    """
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts the boot disk. Default: Google's key."""
    grant_key_use: NotRequired[bool]
    """If disk_kms_key is set, grant Compute Engine's service agent the required role on the key.
    The role assignment remains after you delete the pool. Set to false if the agent already has the
    role. Default: true.
    """
    auto_upgrade: NotRequired[bool]
    """Allow GKE to upgrade the nodes. Only clusters without a release channel support false. To
    protect busy GPU nodes or reservations, you can set maintenance exclusions for the cluster
    instead. Default: true.
    """
    node_version: NotRequired[str]
    """Node version, for example 1.35.1-gke.1616000. Set this input only if auto_upgrade is false. A
    later version upgrades the nodes according to max_surge and max_unavailable. Default: the
    control plane's version when the pool is created.
    """
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional node labels."""
    max_surge: NotRequired[int]
    """Number of additional nodes that an upgrade can start. Default: 0, because a full pool has no
    free capacity.
    """
    max_unavailable: NotRequired[int]
    """Number of nodes that an upgrade can remove at the same time. Default: 1, or 0 with max_surge.
    """
    image_streaming: NotRequired[bool]
    """Start containers before their images are completely downloaded from Artifact Registry.
    Default: false.
    """
    taints: NotRequired[list[pulumi.Input[NodeTaint]]]
    """Additional node taints. Nodes always have the nvidia.com/gpu=present:NoSchedule taint. All
    DaemonSets, including the DRA driver, must tolerate the additional taints.
    """
    resource_labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Billing labels for the machines."""


class GkeGpuPoolInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values, and with computed machine type, capacity, and
    labels.
    """

    cluster_name: pulumi.Input[str]
    location: str
    machine: GkeMachine
    plugin: PluginServing | None  # None for DRA pools
    zones: list[pulumi.Input[str]]
    service_account: pulumi.Input[str]
    counts: Counts
    location_policy: str
    pool_name: str
    node_pool_name: str  # "" for a generated one
    capacity: CapacitySettings
    placement_policy: "NodePoolPlacementPolicyArgsDict | None"
    host_maintenance: str  # "" for Compute Engine's
    system: NodeSystem
    max_pods: int | None
    network_profile: str  # "" for none
    secure_boot: bool
    disk_gib: int
    local_ssds: int  # 0 for local SSDs that are part of the machine type
    disk_type: str  # "" for the machine type's default
    disk_speed: DiskSpeed
    disk_kms_key: pulumi.Input[str] | None
    grant_key_use: bool
    auto_upgrade: bool
    node_version: str  # "" for the control plane's version
    image_streaming: bool
    labels: dict[str, pulumi.Input[str]]
    taints: list[Taint]
    resource_labels: dict[str, pulumi.Input[str]]


def read_gpu_pool_inputs(read: InputReader, name: str) -> GkeGpuPoolInputs:
    """Return the checked inputs of the pool called `name`, and record errors in `read`."""
    location = read.text(
        "location", pattern=r"[a-z]+-[a-z]+\d+(-[a-z])?", meaning="a region or a zone"
    )
    zones = read_zones(read, "zones", location)
    if not zones:
        read.refuse("zones", "must not be empty")
    counts = read_counts(read, CLOUD)
    if zones and (problem := check_node_counts(counts, len(zones))):
        read.refuse("desired_nodes", problem)
    plugin = read_gke_plugin(read)
    _check_driver_installation(read)
    policy = _read_location_policy(read, is_autoscaled=counts.autoscaled)
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
        node_pool_name=_read_node_pool_name(read),
        capacity=capacity,
        placement_policy=read_placement(read, len(zones), machine, capacity.kind),
        host_maintenance=_read_host_maintenance(read),
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


def _read_location_policy(read: InputReader, *, is_autoscaled: bool) -> str:
    policy = read.choice("location_policy", ("ANY", "BALANCED"), "ANY")
    if read.has("location_policy") and not is_autoscaled:
        read.refuse(
            "location_policy",
            "applies only with autoscaled: true, because GKE spreads a fixed count evenly",
        )
    return policy


def _check_driver_installation(read: InputReader) -> None:
    if (installation := read.text("driver_installation", "disabled")) != "disabled":
        read.refuse(
            "driver_installation",
            f'must be disabled, not "{installation}", because DriverInstaller, not GKE, '
            "installs the driver on DRA nodes",
        )


def _read_node_pool_name(read: InputReader) -> str:
    return read.text(
        "node_pool_name",
        "",
        pattern=NODE_POOL_PATTERN,
        meaning="a node pool name of at most 40 lowercase letters, digits, and -",
    )


def _read_host_maintenance(read: InputReader) -> str:
    """Return `host_maintenance`, or an empty text for Compute Engine's default."""
    if not read.has("host_maintenance"):
        return ""
    return read.choice("host_maintenance", ("PERIODIC", "AS_NEEDED"), "")


def _read_version(read: InputReader) -> str:
    """Return `node_version`.

    It's rejected with automatic upgrades, because each upgrade would cause a difference
    (hashicorp/terraform-provider-google:website/docs/r/container_node_pool.html.markdown@e03b7622).
    """
    if read.has("node_version") and read.flag("auto_upgrade", True):
        read.refuse(
            "node_version",
            "requires auto_upgrade: false, which needs a cluster without a release channel",
        )
    return read.text(
        "node_version",
        "",
        pattern=r"1\.\d+\.\d+-gke\.\d+",
        meaning="a GKE version, for example 1.35.1-gke.1616000",
    )


def _read_local_ssds(read: InputReader, machine: GkeMachine) -> int:
    count = read.whole("local_ssds", least=1, most=32) if read.has("local_ssds") else 0
    if count and machine.found and (fault := local_ssds_fault(machine.instance_type, count)):
        read.refuse("local_ssds", fault)
    return count


def _read_machine(read: InputReader) -> GkeMachine:
    name = read.text("machine")
    try:
        return gke_machine(read_machine(read, CLOUD, name) or catalog.machine(CLOUD.name, name))
    except CatalogError as error:
        if name:
            read.refuse("machine", str(error))
        return GkeMachine(name, "", 0)


def _read_surge(read: InputReader, capacity: CapacitySettings) -> None:
    """Set how many nodes an upgrade replaces at once. Nodes with a limited run time end by
    themselves instead.
    """
    surge = read.whole("max_surge", 0, most=SURGE_NODES)
    unavailable = read.whole("max_unavailable", 0 if surge else 1, most=SURGE_NODES)
    given = [key for key in ("max_surge", "max_unavailable") if read.has(key)]
    if given and not capacity.is_repaired:
        read.refuse(
            given[0],
            f'isn\'t supported with "{capacity.kind}" capacity, because GKE replaces its nodes '
            "when they expire",
        )
    elif not 0 < surge + unavailable <= SURGE_NODES:
        total = surge + unavailable
        read.refuse(
            given[0],
            f"max_surge and max_unavailable must add up to 1 to {SURGE_NODES}, not {total}",
        )
    elif given:
        capacity.replace_at_once(surge, unavailable)


def _read_capacity(read: InputReader, location_policy: str, least: int) -> CapacitySettings:
    kind = read.choice("capacity", KINDS, "on-demand")
    reservation = read.identifier("reservation_name", check=CLOUD.reservation_fault)
    if kind == "reservation" and reservation is None:
        read.refuse(
            "reservation_name",
            'is required with "reservation" capacity; set it to the name of the purchased capacity',
        )
    if kind != "reservation" and reservation is not None:
        read.refuse("reservation_name", f'applies only to "reservation" capacity, not to "{kind}"')
    seconds = read.whole("max_run_seconds", 604_800, least=600, most=604_800)
    if read.has("max_run_seconds") and kind != "flex-start":
        read.refuse("max_run_seconds", f'applies only to "flex-start" capacity, not to "{kind}"')
    if kind in ("flex-start", "queued") and not read.flag("autoscaled", False):
        read.refuse(
            "autoscaled",
            f'must be true with "{kind}" capacity, because GKE starts its nodes when pods request '
            "them",
        )
    elif kind in ("flex-start", "queued") and location_policy != "ANY":
        read.refuse(
            "location_policy",
            f'must be ANY with "{kind}" capacity, because GKE starts the nodes in any zone that '
            "has capacity",
        )
    if kind in ("flex-start", "queued") and least:
        read.refuse(
            "min_nodes",
            f'must be 0 with "{kind}" capacity, because GKE starts its nodes when pods request them',
        )
    return CapacitySettings(kind, reservation, seconds)
