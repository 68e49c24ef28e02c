"""A GKE node pool of GPU machines for Dynamic Resource Allocation, sized by a plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp
from dra_planner.errors import CatalogError

from pulumi_dra.children import Children
from pulumi_dra.gke.machine import GkeMachine, gke_machine, guest_accelerators
from pulumi_dra.gke.node_config import node_settings
from pulumi_dra.gke.node_counts import check_node_counts, node_count_settings
from pulumi_dra.gke.zones import read_zones
from pulumi_dra.inputs import InputReader
from pulumi_dra.labels import GPU_TAINT_KEY, GPU_TAINT_VALUE, gke_pool_labels
from pulumi_dra.pool_inputs import read_counts, read_labels, read_pool_name

CAPACITY_KINDS = ("on-demand", "spot", "reservation", "flex-start", "queued")


class GkeGpuPoolArgs(TypedDict):
    """Inputs of GkeGpuPool."""

    cluster: pulumi.Input[str]
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
    """How the autoscaler spreads nodes over zones: ANY (default, takes GPUs where there are some) or BALANCED."""
    pool_name: NotRequired[str]
    """Name of the pool in the label `pulumi-dra/pool`. Default the component's name."""
    capacity: NotRequired[str]
    """Where machines come from: on-demand (default), spot, reservation, flex-start or queued."""
    reservation_name: NotRequired[pulumi.Input[str]]
    """Name of the reservation."""
    max_run_seconds: NotRequired[int]
    """How long a flex-start node may run, up to seven days."""
    compact_placement: NotRequired[bool]
    """Whether nodes are placed close together, in one zone. Default false."""
    mig_partition: NotRequired[str]
    """Refused: GKE does not support MIG with DRA."""
    gpu_sharing: NotRequired[str]
    """Refused: GKE supports neither time-sharing nor MPS with DRA; claims share a GPU by sharing the claim."""
    secure_boot: NotRequired[bool]
    """Whether nodes boot only signed code. Default true; the preloaded driver of Container-Optimized OS is signed,
    a driver of one's own may not be."""
    disk_gib: NotRequired[int]
    """Size of the boot disk. Default 200."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key that encrypts the boot disk. Default: Google's own key."""
    auto_upgrade: NotRequired[bool]
    """Whether GKE upgrades the nodes. Default true; GPU nodes on a reservation may want maintenance exclusions."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Further labels of the nodes."""
    resource_labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Labels of the machines, for billing."""


class GkeGpuPool(pulumi.ComponentResource):
    """A node pool of GPU machines that the DRA driver runs on and Google's device plugin keeps off."""

    pool_name: pulumi.Output[str]
    """Name of the pool, the value of the label `pulumi-dra/pool`."""
    node_pool_name: pulumi.Output[str]
    """Name of the node pool."""
    max_nodes: pulumi.Output[int]
    """The most nodes the pool may have."""

    def __init__(self, name: str, args: GkeGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("GkeGpuPool", name, args, GkeGpuPoolArgs)
        cluster = read.required_identifier("cluster")
        location = read.text("location", pattern=r"[a-z]+-[a-z]+\d+(-[a-z])?", meaning="a region or a zone")
        machine = _read_machine(read)
        zones = read_zones(read, "zones", location)
        if not zones:
            read.refuse("zones", "must name at least one")
        service_account = read.required_identifier("service_account")
        counts = read_counts(read)
        policy = read.choice("location_policy", ("ANY", "BALANCED"), "ANY")
        pool_name = read_pool_name(read, name)
        capacity = _read_capacity(read)
        placement = read.flag("compact_placement", False)
        secure_boot = read.flag("secure_boot", True)
        disk_gib = read.whole("disk_gib", 200, least=50, most=65_536)
        disk_key = read.identifier("disk_kms_key")
        auto_upgrade = read.flag("auto_upgrade", True)
        labels = read_labels(read, gke_pool_labels(pool_name))
        resource_labels = read.labels("resource_labels")
        for key, what in (("mig_partition", "MIG"), ("gpu_sharing", "time-sharing and MPS")):
            if read.has(key):
                read.refuse(key, f"GKE does not support {what} with DRA; claim whole GPUs, or share one claim")
        if zones and (complaint := check_node_counts(counts, len(zones))):
            read.refuse("desired_nodes", complaint)
        if placement and len(zones) > 1:
            read.refuse("compact_placement", f"needs one zone, not {len(zones)}")
        read.finish()

        super().__init__("pulumi-dra:index:GkeGpuPool", name, {}, opts)
        node_config: gcp.container.NodePoolNodeConfigArgsDict = {
            **node_settings(
                service_account,
                disk_gib=disk_gib,
                secure_boot=secure_boot,
                labels=labels,
                resource_labels=resource_labels,
                disk_kms_key=disk_key,
            ),
            **capacity.node_config,
            "machine_type": machine.instance_type,
            "guest_accelerators": guest_accelerators(machine),
            "taints": [{"key": GPU_TAINT_KEY, "value": GPU_TAINT_VALUE, "effect": "NO_SCHEDULE"}],
            "gvnic": {"enabled": True},
        }
        pool = gcp.container.NodePool(
            f"{name}-nodes",
            cluster=cluster,
            location=location,
            node_locations=zones,
            management={"auto_repair": True, "auto_upgrade": auto_upgrade},
            # A full pool has no room for a new node beside an old one: take one away, then add one.
            upgrade_settings={"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1},
            placement_policy={"type": "COMPACT"} if placement else None,
            node_config=node_config,
            **capacity.pool,
            **node_count_settings(counts, len(zones), policy),
            opts=Children(self, opts).options(
                # It is a count per zone at creation, and a change would make a new pool.
                ignore_changes=["initialNodeCount"],
            ),
        )
        self.pool_name = pulumi.Output.from_input(pool_name)
        self.node_pool_name = pool.name
        self.max_nodes = pulumi.Output.from_input(counts.max)
        self.register_outputs(
            {"pool_name": self.pool_name, "node_pool_name": self.node_pool_name, "max_nodes": self.max_nodes}
        )


class _Capacity:
    """Where a pool's machines come from, as settings of the node configuration and of the pool."""

    def __init__(self, kind: str, reservation: pulumi.Input[str] | None, max_run_seconds: int) -> None:
        self.pool: dict[str, Any] = {"queued_provisioning": {"enabled": True}} if kind == "queued" else {}
        kinds: dict[str, gcp.container.NodePoolNodeConfigArgsDict] = {
            "on-demand": {"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}},
            "spot": {"spot": True},
            "reservation": {
                "reservation_affinity": {
                    "consume_reservation_type": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": [reservation or ""],
                }
            },
            "flex-start": {"flex_start": True, "max_run_duration": f"{max_run_seconds}s"},
            "queued": {"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}},
        }
        self.node_config = kinds[kind]


def _read_machine(read: InputReader) -> GkeMachine:
    name = read.text("machine")
    try:
        return gke_machine(name)
    except CatalogError as error:
        if name:
            read.refuse("machine", str(error))
        return GkeMachine(name, "", 0)


def _read_capacity(read: InputReader) -> _Capacity:
    kind = read.choice("capacity", CAPACITY_KINDS, "on-demand")
    reservation = read.identifier("reservation_name")
    if kind == "reservation" and reservation is None:
        read.refuse("reservation_name", 'is missing: capacity "reservation" needs the name of what was bought')
    if kind != "reservation" and reservation is not None:
        read.refuse("reservation_name", f'is for capacity "reservation", not "{kind}"')
    seconds = read.whole("max_run_seconds", 604_800, least=600, most=604_800)
    if read.has("max_run_seconds") and kind != "flex-start":
        read.refuse("max_run_seconds", f'is for capacity "flex-start", not "{kind}"')
    if kind in ("flex-start", "queued") and not read.flag("autoscaled", False):
        read.refuse("autoscaled", f'must be true with capacity "{kind}": GKE starts its nodes when pods ask')
    return _Capacity(kind, reservation, seconds)
