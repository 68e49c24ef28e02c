"""Speed of a node's disk, for clouds that sell it separately from size."""

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.clouds import range_fault
from pulumi_dra.inputs.reader import InputReader


class DiskSpeed(Struct, frozen=True, kw_only=True):
    """IOPS and throughput in MiB/s. None: the cloud's default."""

    iops: int | None = None
    throughput: int | None = None


USUAL_SPEED = DiskSpeed()


class SpeedLimits(Struct, frozen=True, kw_only=True):
    """The speed limits of a disk type."""

    iops: range
    throughput: range  # MiB a second
    iops_of_a_gib: int  # at most
    iops_of_a_mib: range  # minimum and maximum throughput


def read_disk_speed(read: InputReader, limits: SpeedLimits, disk_gib: int) -> DiskSpeed:
    """Return `disk_iops` and `disk_throughput`. Errors are recorded in `read`, including conflicts
    between the two.
    """
    speed = DiskSpeed(iops=_whole(read, "disk_iops"), throughput=_whole(read, "disk_throughput"))
    for key, sentence in speed_faults(speed, limits, disk_gib):
        read.refuse(key, sentence)
    return speed


def speed_faults(speed: DiskSpeed, limits: SpeedLimits, disk_gib: int) -> Iterator[tuple[str, str]]:
    """Yield why a speed is invalid, by input. A disk without `disk_iops` has its type's minimum."""
    iops = limits.iops[0] if speed.iops is None else speed.iops
    if fault := range_fault(iops, limits.iops):
        yield "disk_iops", fault
    elif speed.iops is not None and iops > (most := limits.iops_of_a_gib * disk_gib):
        yield (
            "disk_iops",
            (
                f"{iops} is too high for a disk of {disk_gib} GiB, which supports at most {most} "
                f"({limits.iops_of_a_gib} per GiB)"
            ),
        )
    if speed.throughput is None:
        return
    if fault := range_fault(speed.throughput, limits.throughput):
        yield "disk_throughput", fault
    elif (least := limits.iops_of_a_mib[0] * speed.throughput) > iops:
        yield (
            "disk_throughput",
            f"{speed.throughput} MiB/s needs at least {least} operations per second; set disk_iops "
            f"to {least} or more",
        )
    elif (most := limits.iops_of_a_mib[-1] * speed.throughput) < iops:
        yield (
            "disk_throughput",
            f"{speed.throughput} MiB/s is too slow for {iops} operations per second; this "
            f"throughput supports at most {most}",
        )


def _whole(read: InputReader, key: str) -> int | None:
    return read.whole(key) if read.has(key) else None
