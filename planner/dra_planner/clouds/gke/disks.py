"""Boot disks and local SSDs of GKE nodes."""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.clouds.protocol.allocatable import (
    AllocatableSettings,
    disk_bytes,
)
from dra_planner.wording import either

# kubernetes-sigs/gcp-compute-persistent-disk-csi-driver:deploy/disk_type_labels.sh@b560165c. Where
# sources disagree (c4a, n4), and for a3-ultragpu, whose default is a Hyperdisk (Vertex AI,
# “DiskSpec”), Persistent Disk counts as unsupported.
_HYPERDISK_ONLY = frozenset({"a4", "a4x", "c4", "c4a", "c4d", "g4", "h4d", "m4", "n4"})


_BOTH = frozenset({"a3", "c3", "c3d"})


_PERSISTENT = ("pd-balanced", "pd-ssd", "pd-standard")


# the only Hyperdisk type that can be a boot disk: cluster-toolkit PR 6004
_HYPERDISK = "hyperdisk-balanced"


# GoogleCloudPlatform/cluster-toolkit:modules/compute/gke-node-pool/disk_definitions.tf@10470803
_BUNDLED_SSDS = {
    "a3-highgpu-8g": 16,
    "a3-megagpu-8g": 16,
    "a3-ultragpu-8g": 32,
    "a4-highgpu-8g": 32,
}


SSD_GIB = 375


# docs.cloud.google.com/compute/docs/disks/local-ssd, “Choose a valid number of Local SSD disks”:
# machine types with optional local SSDs. The catalog contains local SSDs that are part of a machine
# type.
_SSD_CHOICES: dict[str, tuple[int, ...]] = {
    "a2-highgpu-1g": (1, 2, 4, 8),
    "a2-highgpu-2g": (2, 4, 8),
    "a2-highgpu-4g": (4, 8),
    "a2-highgpu-8g": (8,),
    "a2-megagpu-16g": (8,),
    "g2-standard-24": (2,),
    "g2-standard-48": (4,),
    "g2-standard-96": (8,),
    "g4-standard-48": (4,),
    "g4-standard-96": (8,),
    "g4-standard-192": (16,),
    "g4-standard-384": (32,),
    **{f"g2-standard-{vcpus}": (1,) for vcpus in (4, 8, 12, 16, 32)},
}


def boot_disks(machine_type: str) -> tuple[str, ...]:
    """Return the boot disk types of a machine type such as a3-highgpu-8g, starting with the
    default.
    """
    if _has_only_hyperdisk(machine_type):
        return (_HYPERDISK,)
    if machine_type.partition("-")[0] in _BOTH:
        return (*_PERSISTENT[:2], _HYPERDISK)
    return _PERSISTENT


def attaches_volume(machine_type: str, disk_type: str) -> bool:
    """Return False if volumes of that disk type certainly can't be attached.

    NVIDIA/aicr pull request 2338: pods with volumes of standard-rwo don't start on a4x nodes.
    """
    return not disk_type.startswith("pd-") or not _has_only_hyperdisk(machine_type)


def _has_only_hyperdisk(machine_type: str) -> bool:
    family = machine_type.partition("-")[0]
    return family in _HYPERDISK_ONLY or machine_type.startswith("a3-ultragpu-")


def takes_boot_disk(machine_type: str, disk_type: str) -> bool:
    """Return whether nodes of a machine type can boot from a type of disk."""
    return disk_type in boot_disks(machine_type)


def bundled_ssds(machine_type: str) -> int:
    """Return how many local SSDs a machine type includes.

    They are the ephemeral storage of its nodes.
    """
    return _BUNDLED_SSDS.get(machine_type, 0)


def local_ssds_fault(machine_type: str, count: int) -> str:
    """Return why a machine type can't have this number of optional local SSDs, or ""."""
    choices = _SSD_CHOICES.get(machine_type, ())
    if machine_type.startswith("n1-"):
        choices = (*range(1, 9), 16, 24)
    if not choices:
        return (
            f"{machine_type} doesn't support additional local SSDs, because its included SSDs are "
            "always attached"
        )
    if count in choices:
        return ""
    return (
        f"{machine_type} doesn't support {count} local SSDs; it supports "
        f"{either(map(str, choices))}"
    )


def ssd_bytes(settings: AllocatableSettings, count: int, percent_lost: int) -> int:
    """Return the bytes of local SSDs that pods can use.

    GKE reserves 50 GiB of one SSD, 75 GiB of two, and 100 GiB of more. The file system is at most
    2% smaller: df prints 369 GiB (cloudera/director-google-plugin pull request 158).
    """
    size = replace(settings, disk_gib=count * SSD_GIB)
    reserved = {1: 50, 2: 75}.get(count, 100) * 1024
    return disk_bytes(size, size.disk_gib * 1024 * percent_lost // 100, reserved)
