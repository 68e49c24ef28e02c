"""What kubelet leaves of a machine: allocatable cpu, memory, pods and ephemeral storage, per cloud.

Sources: awslabs/amazon-eks-ami:nodeadm/internal/kubelet/{config,eni_max_pods}.go@81fec2e; the EKS user guide (cap of
managed node groups); aws/karpenter-provider-aws:pkg/providers/instancetype/types.go@1d92708 (share of memory that
kernel and hypervisor keep); kubernetes/autoscaler:cluster-autoscaler/cloudprovider/gce/gce_reserved.go@55c37cd (the
same for GCE); cloudpilot-ai/karpenter-provider-gcp:pkg/utils/utils.go@417f047 (GKE's documented reservations).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dra_planner.catalog import Machine
from dra_planner.errors import CatalogError
from dra_planner.model import Amounts

MIB = 1024 * 1024
EVICTION_MIB = 100
DISK_GIB = 200  # what the components of this project give a node
# What images keep of a disk, cautious: nodes of 80 GiB (AL2023) and 100 GiB (Container-Optimized OS) report file
# systems that are 12 MiB and 5.75 GiB smaller.
EKS_IMAGE_MIB = 128
GKE_IMAGE_MIB = 5 * 1024  # and 2 % of the disk


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """How nodes are set up, as far as it changes what they offer.

    `max_pods` is kubelet's, None for the platform's own; `prefix_delegation` that of the VPC CNI; `self_managed`
    EKS nodes are not capped as managed node groups are. `reserved` is kept from pods beside kubelet's own reservation.
    `daemons` replaces what a daemon pod asks for, adds a pod that the catalogue does not know, or takes one away
    (None); `drivers` names DRA drivers beside NVIDIA's whose daemon pods run ("dranet").
    """

    max_pods: int | None = None
    prefix_delegation: bool = False
    self_managed: bool = False
    disk_gib: int = DISK_GIB
    reserved: Amounts = field(default_factory=dict, hash=False)
    drivers: tuple[str, ...] = ()
    daemons: Mapping[str, Amounts | None] = field(default_factory=dict, hash=False)


DEFAULTS = NodeSettings()


@dataclass(frozen=True, slots=True)
class Allocatable:
    """Amounts that kubelet will report (cpu in thousandths, bytes, pods), and what was assumed.

    `amounts` is the cautious estimate: how much memory kernel, firmware and hypervisor keep, and how much of the disk
    the image keeps, is published for no machine. `at_most` is what would be left if they kept none.
    """

    amounts: dict[str, int]
    at_most: dict[str, int]
    assumptions: tuple[str, ...]


def predict_allocatable(machine: Machine, settings: NodeSettings = DEFAULTS) -> Allocatable:
    """Return what a node of this machine type offers to pods; raises CatalogError where its size is not known."""
    if machine.vcpus is None or machine.memory_mib is None:
        raise CatalogError(
            f"how many vCPU and how much memory {machine.name} has is not known", fix="use another machine"
        )
    if machine.cloud == "eks":
        return _less_reserved(machine, _eks(machine, machine.vcpus, machine.memory_mib, settings), settings)
    if machine.cloud == "gke":
        return _less_reserved(machine, _gke(machine.vcpus, machine.memory_mib, settings), settings)
    raise CatalogError(f"{machine.name} is a machine of AKS, which is not planned yet", fix="use eks or gke")


def _less_reserved(machine: Machine, found: Allocatable, settings: NodeSettings) -> Allocatable:
    """Return the amounts without what is reserved; raises CatalogError where that leaves nothing."""
    kept = {name: amount for name, amount in settings.reserved.items() if amount}
    if not kept:
        return found
    amounts, at_most = (
        {name: amount - kept.get(name, 0) for name, amount in side.items()} for side in (found.amounts, found.at_most)
    )
    scarce = [name for name in kept if amounts[name] <= 0]
    if scarce:
        raise CatalogError(f"what is reserved leaves a {machine.name} no {scarce[0]}", fix="reserve less")
    return Allocatable(amounts, at_most, (*found.assumptions, f"{machine.name}: reserved amounts are kept from pods"))


def reserved_cpu_milli(vcpus: int) -> int:
    """Return kubelet's reservation: 6 % of one core, 1 % of the next, 0.5 % of two more, 0.25 % of the rest."""
    units = 0  # hundredths of a thousandth
    for index in range(vcpus):
        units += 6000 if index == 0 else 1000 if index == 1 else 500 if index < 4 else 250
    return -(-units // 100)


def eks_max_pods(machine: Machine, settings: NodeSettings = DEFAULTS) -> tuple[int, str]:
    """Return kubelet's maxPods of an EKS node, and the sentence that says why.

    Raises CatalogError for a setting that a managed node group refuses, or that leaves pods without addresses.
    """
    name = machine.name
    cap = 110 if (machine.vcpus or 0) < 30 else 250
    by_interfaces = _addresses(machine, settings)
    how = "with" if settings.prefix_delegation else "without"
    if settings.max_pods is not None:
        if settings.max_pods > cap and not settings.self_managed:
            raise CatalogError(
                f"{name}: EKS managed node groups give such a node at most {cap} pods, not {settings.max_pods}",
                fix=f"set maxPods to {cap} or less",
            )
        if by_interfaces is not None and settings.max_pods > by_interfaces:
            other = "" if settings.prefix_delegation else ", or set network.prefixDelegation"
            raise CatalogError(
                f"{name} has addresses for {by_interfaces} pods {how} prefix delegation, not for {settings.max_pods}",
                fix=f"set maxPods to {by_interfaces} or less{other}",
            )
        return settings.max_pods, f"{name}: {settings.max_pods} pods, as set"
    if by_interfaces is None:
        return 110, f"{name}: 110 pods, because its network interfaces are not known"
    if by_interfaces <= cap or settings.self_managed:
        return by_interfaces, f"{name}: {by_interfaces} pods, by its network interfaces, {how} prefix delegation"
    return cap, f"{name}: {cap} pods, the cap of EKS managed node groups"


def _addresses(machine: Machine, settings: NodeSettings) -> int | None:
    """Return how many pods the interfaces of the default card have addresses for, host-network pods included."""
    if machine.default_card_enis is None or machine.ipv4_per_eni is None:
        return None
    each = (machine.ipv4_per_eni - 1) * (16 if settings.prefix_delegation else 1)
    return machine.default_card_enis * each + 2


def _eks(machine: Machine, vcpus: int, memory_mib: int, settings: NodeSettings) -> Allocatable:
    max_pods, pods_sentence = eks_max_pods(machine, settings)
    kept = -(-memory_mib * 75 // 1000) + (64 if machine.arch == "arm64" else 0)
    # nodeadm reserves by the maxPods that it works out itself, even where kubelet's configuration sets another
    usual, _ = eks_max_pods(machine, replace(settings, max_pods=None))
    kube_reserved = 11 * max(max_pods, usual) + 255
    spared = kept + 11 * abs(max_pods - usual)
    amounts = {
        "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
        "memory": (memory_mib - kept - kube_reserved - EVICTION_MIB) * MIB,
        "pods": max_pods,
    }
    return Allocatable(
        {**amounts, "ephemeral-storage": _disk(settings, EKS_IMAGE_MIB, 1024)},
        {
            **amounts,
            "memory": amounts["memory"] + spared * MIB,
            "ephemeral-storage": _disk(settings, 0, 1024),
        },
        (
            "EKS nodes run the AL2023 NVIDIA image with nodeadm's reservations; kernel and hypervisor keep 7.5 % of "
            "the memory (Karpenter's share, cautious on large machines)",
            pods_sentence,
            f"ephemeral storage is a root volume of {settings.disk_gib} GiB",
        ),
    )


def _gke(vcpus: int, memory_mib: int, settings: NodeSettings) -> Allocatable:
    kept = memory_mib * MIB // 64 + 16 * MIB
    if memory_mib > 3 * 1024:
        kept += 64 * MIB
    if memory_mib <= 8 * 1024:
        kept += 8 * MIB
    kept += min(memory_mib * MIB * 175 // 100_000, 248 * MIB)
    disk = settings.disk_gib * 1024
    disk_reserved = min(disk // 2, disk * 35 // 100 + 6 * 1024, 100 * 1024)
    image = GKE_IMAGE_MIB + disk // 50
    amounts = {
        "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
        "memory": memory_mib * MIB - kept - _gke_reserved_memory(memory_mib) - EVICTION_MIB * MIB,
        "pods": 110 if settings.max_pods is None else settings.max_pods,
    }
    return Allocatable(
        {**amounts, "ephemeral-storage": _disk(settings, image, disk_reserved)},
        {
            **amounts,
            "memory": amounts["memory"] + kept,
            "ephemeral-storage": _disk(settings, 0, disk_reserved),
        },
        (
            "GKE nodes run Container-Optimized OS with GKE's documented reservations, as Karpenter and the cluster "
            "autoscaler restate them",
            "GKE nodes take 110 pods, the default of a node pool"
            if settings.max_pods is None
            else f"GKE nodes take {settings.max_pods} pods, as set",
            f"ephemeral storage is a boot disk of {settings.disk_gib} GiB; local SSDs are not counted",
        ),
    )


def _disk(settings: NodeSettings, image_mib: int, reserved_mib: int) -> int:
    """Return the bytes of the disk that pods may use: kubelet evicts them at 10 % of the file system."""
    file_system = settings.disk_gib * 1024 - image_mib
    return (file_system - -(-file_system // 10) - reserved_mib) * MIB


def _gke_reserved_memory(memory_mib: int) -> int:
    """Return GKE's reservation in bytes: 25 % of 4 GiB, 20 % of 4, 10 % of 8, 6 % of 112, 2 % of the rest."""
    if memory_mib <= 1024:
        return 255 * MIB
    reserved, left = 0, memory_mib * MIB
    for gib, percent in ((4, 25), (4, 20), (8, 10), (112, 6), (None, 2)):
        part = left if gib is None else min(left, gib * 1024 * MIB)
        reserved += -(-part * percent // 100)
        left -= part
    return reserved
