"""The boot disk of GKE nodes: disk types by machine type, and speed limits."""

from dra_planner.clouds import DISK_GIB
from dra_planner.clouds.gke.disks import boot_disks
from pulumi_dra.gke.pool.machine import GkeMachine
from pulumi_dra.inputs.disk_speed import USUAL_SPEED, DiskSpeed, SpeedLimits, read_disk_speed
from pulumi_dra.inputs.reader import InputReader

HYPERDISK_BALANCED = SpeedLimits(
    iops=range(3_000, 160_001),
    throughput=range(140, 2_401),
    iops_of_a_gib=500,
    iops_of_a_mib=range(4, 257),
)
"""docs.cloud.google.com/compute/docs/disks/hd-types/hyperdisk-balanced."""


def read_disk_type(read: InputReader, machine: GkeMachine) -> str:
    """Return `disk_type`, or "" for the machine type's default. Errors are recorded in `read`."""
    disk_type, taken = read.text("disk_type", ""), boot_disks(machine.instance_type)
    if disk_type and machine.found and disk_type not in taken:
        read.refuse(
            "disk_type",
            f'{machine.instance_type} can\'t boot from "{disk_type}"; use {" or ".join(taken)}',
        )
    return disk_type


def read_boot_disk_speed(read: InputReader, machine: GkeMachine, disk_type: str) -> DiskSpeed:
    """Return `disk_iops` and `disk_throughput`, and record errors in `read`.

    The provider accepts both only for hyperdisk-balanced (documentation of container_node_pool,
    boot_disk).
    """
    keys = [key for key in ("disk_iops", "disk_throughput") if read.has(key)]
    boots_from = disk_type or boot_disks(machine.instance_type)[0]
    if keys and boots_from != "hyperdisk-balanced":
        read.refuse(
            keys[0],
            f"applies only to hyperdisk-balanced, but {machine.instance_type} boots from "
            f"{boots_from}",
        )
    return (
        read_disk_speed(read, HYPERDISK_BALANCED, read.whole("disk_gib", DISK_GIB))
        if keys
        else USUAL_SPEED
    )
