"""Allocatable resources and pod addresses of GKE nodes."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds.gke.disks import (
    SSD_GIB,
    ssd_bytes,
)
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    disk_bytes,
    page_descriptors_mib,
    reserved_cpu_milli,
)

# plus 2% of the disk (a conservative estimate: the file system of a node with 100 GiB is 5.75 GiB
# smaller)
IMAGE_MIB = 5 * 1024


def most_pods(settings: AllocatableSettings) -> int:
    return 110 if settings.max_pods is None else settings.max_pods


def reserved_memory(memory_mib: int) -> int:
    """Return GKE's memory reservation in bytes: 25% of the first 4 GiB, 20% of the next 4, 10% of
    the next 8, 6% of the next 112, and 2% of all further memory.
    """
    if memory_mib <= 1024:
        return 255 * MIB
    reserved, left = 0, memory_mib * MIB
    for gib, percent in ((4, 25), (4, 20), (8, 10), (112, 6), (None, 2)):
        part = left if gib is None else min(left, gib * 1024 * MIB)
        reserved += -(-part * percent // 100)
        left -= part
    return reserved


def allocatable_resources(
    machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
) -> Allocatable:
    """Return the resources that the kubelet on GKE leaves for pods.

    Sources: kubernetes/autoscaler:cluster-autoscaler/cloudprovider/gce/gce_reserved.go@55c37cd (the
    memory of the kernel and firmware);
    cloudpilot-ai/karpenter-provider-gcp:pkg/utils/utils.go@417f047 (documented reservations).
    """
    kept = memory_mib * MIB // 64 + 16 * MIB
    if memory_mib > 3 * 1024:
        kept += 64 * MIB
    if memory_mib <= 8 * 1024:
        kept += 8 * MIB
    kept += min(memory_mib * MIB * 175 // 100_000, 248 * MIB)
    spared = kept - page_descriptors_mib(machine.arch, memory_mib) * MIB
    disk = settings.disk_gib * 1024
    disk_reserved = min(disk // 2, disk * 35 // 100 + 6 * 1024, 100 * 1024)
    amounts = {
        "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
        "memory": memory_mib * MIB - kept - reserved_memory(memory_mib) - EVICTION_MIB * MIB,
        "pods": most_pods(settings),
    }
    least, most = (
        disk_bytes(settings, IMAGE_MIB + disk // 50, disk_reserved),
        disk_bytes(settings, 0, disk_reserved),
    )
    storage = f"ephemeral storage is on a {settings.disk_gib} GiB boot disk, without local SSDs"
    if settings.local_ssds:
        least, most = (
            ssd_bytes(settings, settings.local_ssds, 2),
            ssd_bytes(settings, settings.local_ssds, 0),
        )
        storage = f"ephemeral storage is on {settings.local_ssds * SSD_GIB} GiB of local SSDs"
    elif machine.local_disks:
        most = max(most, ssd_bytes(settings, machine.local_disks, 0))
        storage = (
            f"ephemeral storage is on a {settings.disk_gib} GiB boot disk, or on the machine's "
            f"{machine.local_disks * SSD_GIB} GiB of local SSDs"
        )
    return Allocatable(
        {**amounts, "ephemeral-storage": least},
        {**amounts, "memory": amounts["memory"] + spared, "ephemeral-storage": most},
        (
            "GKE nodes run Container-Optimized OS and reserve the amounts in GKE's "
            "documentation (Karpenter and the cluster autoscaler use the same values)",
            "GKE nodes run at most 110 pods, the node pool default"
            if settings.max_pods is None
            else f"GKE nodes run at most {settings.max_pods} pods, as set in maxPods",
            storage,
        ),
    )


def addresses_of_node(settings: AllocatableSettings) -> int:
    """Return the number of addresses in a node's block: a power of two, and at least twice the
    node's pods.

    Sources: docs.cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr (“CIDR ranges for
    Standard clusters”: /28 for 8 pods, /27 to 16, /26 to 32, /25 to 64, /24 to 110; the rule
    continues to 256); blocks of a real cluster, rancher/rancher issue 31110: /25 for 55 pods, /24
    for 110, /28 for 8.
    """
    return 1 << (2 * most_pods(settings) - 1).bit_length()
