"""Nimbus, an invented cloud: clusters and pools are objects in a management cluster, created with
kubectl.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    disk_bytes,
    reserved_cpu_milli,
)
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.clouds.protocol.labels import NodeLabel, NodeOrigin
from dra_planner.clouds.protocol.resources import ClusterResource, CountLimits, PoolResource
from dra_planner.clouds.protocol.settings import CountStep, Fault, PoolSettings
from dra_planner.model import Taint

API = "nimbus.example/v1"
RESERVED_MIB = 2048
NODES_OF_A_RACK = 4


class Nimbus(Cloud):
    """The cloud Nimbus: pools are whole racks of machines, and their image contains the driver."""

    name = "nimbus"

    region_setting = "nimbus:region"
    sdk_extra = "nimbus"
    region_pattern = "[a-z]+"
    region_example = "oslo"
    zone_pattern = r"(?P<region>[a-z]+)-hall\d"
    zone_suffixes = ("-hall1", "-hall2")
    refused = {
        "network.subnetIds": "Nimbus has no subnets; remove subnetIds",
        "network.prefixDelegation": "Nimbus has no prefixes for pods; remove prefixDelegation",
        "drivers.dranet": "Nimbus has no network interfaces for pods; set dranet to false",
        "reserved": "Nimbus sets the reserved resources itself; use daemonPods",
    }
    autoscalers = {"none": False}
    capacities = {"on-demand": "on-demand", "reservation": "a lease"}
    reservation_pattern = "lease-[0-9]+"
    reservation_meaning = "the id of a lease (lease-…)"
    longest_pool_name = 12
    system_machine = "n1.small"
    gpu_images = {"amd64": "nimbus-gpu"}
    system_images = {"amd64": "nimbus"}
    unknown_labels = ("nimbus.example/",)
    reserved_domains = ("nimbus.example",)
    driver_root = "/opt/nimbus/nvidia"
    supports_mig = False
    unsupported_gates = ("DynamicMIG",)
    driver_source = "nimbus.example/gpus: GPUs are leased whole"

    cluster = ClusterResource(
        token=f"kubernetes:{API}:Cluster", version="spec.version", region="spec.region"
    )
    pool = PoolResource(
        token=f"kubernetes:{API}:NodePool",
        kind="rack pool",
        machine="spec.machine",
        labels="spec.labels",
        taints="spec.taints",
        desired=("spec.nodes",),
        limits=(CountLimits(minimum="spec.limits.min", maximum="spec.limits.max"),),
    )

    def labels(self, nodes: NodeOrigin) -> tuple[NodeLabel, ...]:
        leased = NodeLabel(
            "racks.example/leased", "whole", "Nimbus shares these nodes with other customers"
        )
        return (*super().labels(nodes), leased)

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        return {"nimbus.example/cooling": "water" if nodes.has_gpus else "air"}

    def added_taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        return (
            (Taint("nimbus.example/leased", "", "NoSchedule"),)
            if nodes.capacity == "reservation"
            else ()
        )

    def count_step(self, zones: int, *, autoscaled: bool) -> CountStep:
        return CountStep(
            nodes=NODES_OF_A_RACK, reason=f"Nimbus leases racks of {NODES_OF_A_RACK} nodes"
        )

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        yield from super().pool_faults(pool)
        if pool.machine is not None and not pool.machine.gpu_count:
            yield (
                "machine",
                (
                    f"Nimbus only leases racks with GPUs, and {pool.machine.name} has none; use "
                    "ng2.l40s"
                ),
            )

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        amounts = {
            "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
            "memory": (memory_mib - RESERVED_MIB - EVICTION_MIB) * MIB,
            "pods": settings.max_pods or 200,
            "ephemeral-storage": disk_bytes(settings, 0, 0),
        }
        return Allocatable(amounts, amounts, (f"Nimbus nodes reserve {RESERVED_MIB} MiB",))


CLOUD = Nimbus()
