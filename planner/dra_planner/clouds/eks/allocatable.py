"""Allocatable resources of EKS nodes."""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.catalog import Machine
from dra_planner.clouds.eks.addresses import max_pods
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    NodeImage,
    disk_bytes,
    page_descriptors_mib,
    reserved_cpu_milli,
)

IMAGE_MIB = 128  # a conservative estimate: the file system of a node with 80 GiB is 12 MiB smaller


def _runs(image: NodeImage | None) -> str:
    """Return the image that nodes run, and its effect on the resources that the kubelet
    reserves.
    """
    if image is None:
        return "EKS nodes run the AL2023 NVIDIA image with nodeadm's reservations"
    return (
        f"nodes run the image {image.id}. The plan assumes that the image matches the fleet's "
        "Kubernetes version and the machine's CPU architecture. It also assumes root device "
        "/dev/xvda and the reservations of the EKS AL2023 NVIDIA image. The image "
        + (
            f"has the NVIDIA driver in {image.driver_root}"
            if image.driver_root
            else "may have the NVIDIA driver"
        )
    )


def own_disks_gib(machine: Machine) -> int:
    """Return the size of a machine's own disks, or 0 if none are known."""
    return (machine.local_disks or 0) * (machine.local_disk_gb or 0) * 10**9 // 2**30


def allocatable_resources(
    machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
) -> Allocatable:
    """Return the resources that nodeadm leaves for pods.

    Sources: awslabs/amazon-eks-ami:nodeadm/internal/kubelet/{config,eni_max_pods}.go@81fec2e;
    aws/karpenter-provider-aws:pkg/providers/instancetype/types.go@1d92708 (the memory of the kernel
    and hypervisor).
    """
    pods, pods_sentence = max_pods(machine, settings)
    kept = -(-memory_mib * 75 // 1000) + (64 if machine.arch == "arm64" else 0)
    # nodeadm bases its reservation on the maxPods that it computes itself, even if the kubelet's
    # configuration sets another value (for example, for a custom image without the EKS maximum,
    # because EKS doesn't configure these nodes)
    uncapped = settings.self_managed or settings.image is not None
    usual, _ = max_pods(machine, replace(settings, max_pods=None, self_managed=uncapped))
    kube_reserved = 11 * max(pods, usual) + 255
    possible = kept - page_descriptors_mib(machine.arch, memory_mib)
    spared = possible + 11 * abs(pods - usual)
    amounts = {
        "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
        "memory": (memory_mib - kept - kube_reserved - EVICTION_MIB) * MIB,
        "pods": pods,
    }
    least, most = disk_bytes(settings, IMAGE_MIB, 1024), disk_bytes(settings, 0, 1024)
    storage = f"ephemeral storage is on a {settings.disk_gib} GiB root volume"
    if settings.local_storage == "raid0" and (own_gib := own_disks_gib(machine)):
        own = replace(settings, disk_gib=own_gib)
        # A conservative estimate, because no source states how much space the file system itself
        # uses.
        least, most = disk_bytes(own, own_gib * 1024 // 50, 1024), disk_bytes(own, 0, 1024)
        storage = (
            f"ephemeral storage is one file system of {own_gib} GiB on the machine's local disks"
        )
    return Allocatable(
        {**amounts, "ephemeral-storage": least},
        {**amounts, "memory": amounts["memory"] + spared * MIB, "ephemeral-storage": most},
        (
            f"{_runs(settings.image)}. The kernel and the hypervisor use 7.5% of the memory "
            "(Karpenter's estimate, which is conservative for large machine types)",
            pods_sentence,
            storage,
        ),
    )
