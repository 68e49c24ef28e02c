"""Allocatable resources that the kubelet reports for a machine type: the part that is the same on
every cloud.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.model import Amounts
from dra_planner.records import equality

MIB = 1024 * 1024
EVICTION_MIB = 100
DISK_GIB = 200  # resources that this project's components reserve on a node


class NodeImage(Struct, frozen=True, kw_only=True):
    """A custom image: its ID, the image family that it's based on, and the folder of its NVIDIA
    driver.

    `driver_root` is "" if it's unknown whether the image has a driver, and `family` is "" if it's
    unknown.
    """

    id: str
    family: str = ""
    driver_root: str = ""


@equality(unhashed=("reserved", "daemons", "huge_pages"))
class AllocatableSettings(Struct, frozen=True, kw_only=True):
    """The settings of nodes that affect their allocatable resources.

    `max_pods` is the kubelet's value, or None for the cloud's default. `prefix_delegation` is the
    VPC CNI's setting. `self_managed` nodes don't have the limit on pods of managed nodes.
    `reserved` resources aren't available to pods, in addition to the kubelet's own reservation.
    `daemons` replaces the requests of a daemon pod, adds a daemon pod that isn't in the catalog, or
    removes a daemon pod (None). `drivers` lists the DRA drivers whose daemon pods run, in addition
    to NVIDIA's (for example, "dranet").
    """

    max_pods: int | None = None
    prefix_delegation: bool = False
    self_managed: bool = False
    disk_gib: int = DISK_GIB
    reserved: Amounts = {}
    drivers: tuple[str, ...] = ()
    daemons: Mapping[str, Amounts | None] = {}
    # how a node uses the machine's own disks: none, raid0, or mount
    local_storage: str = "none"
    # number of disks requested as ephemeral storage; None means all disks of the machine type
    local_ssds: int | None = None
    # huge pages reserved at boot, by size ("2Mi")
    huge_pages: Mapping[str, int] = {}
    image: NodeImage | None = None  # None means the cloud's default


class Allocatable(Struct, frozen=True):
    """The amounts that the kubelet will report (CPU in thousandths, bytes, pods), and the
    assumptions.

    `amounts` is a conservative estimate, because the memory that the kernel, firmware, and
    hypervisor use, and the disk space that the image uses, aren't published for any machine type.
    `at_most` is the maximum, which ignores this use except for the kernel's page descriptors.
    """

    amounts: dict[str, int]
    at_most: dict[str, int]
    assumptions: tuple[str, ...]


def reserved_cpu_milli(vcpus: int) -> int:
    """Return the kubelet's CPU reservation: 6% of the first core, 1% of the second, 0.5% of the
    next two, and 0.25% of all others.

    EKS and GKE use the same values
    (awslabs/amazon-eks-ami:nodeadm/internal/kubelet/config.go@81fec2e; GKE's documented
    reservations, cloudpilot-ai/karpenter-provider-gcp:pkg/utils/utils.go@417f047).
    """
    units = 0  # hundredths of a thousandth
    for index in range(vcpus):
        units += 6000 if index == 0 else 1000 if index == 1 else 500 if index < 4 else 250
    return -(-units // 100)


def page_descriptors_mib(arch: str, memory_mib: int) -> int:
    """Return the MiB that every kernel reserves at boot to describe the pages of the memory.

    The kernel doesn't report them as memory. They are 64 bytes for each page of 4 KiB on amd64, and
    0 on arm64, because some arm64 kernels have larger pages. Sources:
    torvalds/linux:Documentation/mm/vmemmap_dedup.rst@17b6fc8, mm/sparse-vmemmap.c@03c6019,
    mm/memblock.c@00974b9 (MemTotal counts the memory that allocations at boot leave).
    """
    return memory_mib // 64 if arch == "amd64" else 0


def disk_bytes(settings: AllocatableSettings, image_mib: int, reserved_mib: int) -> int:
    """Return the bytes of the disk that pods can use, because kubelet evicts them at 10% of the
    file system.
    """
    file_system = settings.disk_gib * 1024 - image_mib
    return (file_system - -(-file_system // 10) - reserved_mib) * MIB
