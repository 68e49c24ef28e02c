"""Allocatable resources of AKS nodes."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    disk_bytes,
    page_descriptors_mib,
)

# the number of pods that the components set: AKS reserves 20 MiB for each pod, and its overlay
# network has a default of 250
MAX_PODS = 110
# plus 2% of the disk (a conservative estimate: the file system of a node with 128 GiB is 4.1 GiB
# smaller)
IMAGE_MIB = 2 * 1024


def allocatable_resources(
    machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
) -> Allocatable:
    """Return the resources that the kubelet on AKS leaves for pods in Kubernetes 1.29 and later.

    Sources: learn.microsoft.com/azure/aks/node-resource-reservations
    (MicrosoftDocs/azure-aks-docs@fb060ab; its MB are MiB on real nodes);
    Azure/karpenter-provider-azure:pkg/providers/instancetype/ instancetype.go@352646f (CPU by core,
    and the memory of the kernel and hypervisor).
    """
    pods = MAX_PODS if settings.max_pods is None else settings.max_pods
    kept = -(-memory_mib * 75 // 1000)
    spared = kept - page_descriptors_mib(machine.arch, memory_mib)
    reserved = min(20 * pods + 50, memory_mib // 4)
    amounts = {
        "cpu": vcpus * 1000 - reserved_cpu_of_node(vcpus),
        "memory": (memory_mib - kept - reserved - EVICTION_MIB) * MIB,
        "pods": pods,
    }
    disk = settings.disk_gib * 1024
    return Allocatable(
        {**amounts, "ephemeral-storage": disk_bytes(settings, IMAGE_MIB + disk // 50, 0)},
        {
            **amounts,
            "memory": amounts["memory"] + spared * MIB,
            "ephemeral-storage": disk_bytes(settings, 0, 0),
        },
        (
            "AKS nodes run the Ubuntu image with AKS's documented reservations. The kernel and "
            "the hypervisor use 7.5% of the memory (Karpenter's estimate, which is conservative for "
            "large machine types)",
            (
                f"AKS nodes run at most {pods} pods, "
                f"{'which the components set' if settings.max_pods is None else 'as set'}"
            ),
            (
                f"ephemeral storage is on a {settings.disk_gib} GiB managed OS disk, without the "
                "temporary disk"
            ),
        ),
    )


def reserved_cpu_of_node(vcpus: int) -> int:
    """Return 6% of the first core, 4% of the second, 2% of the next two, and 1% of all others."""
    return sum(
        60 if index == 0 else 40 if index == 1 else 20 if index < 4 else 10
        for index in range(vcpus)
    )
