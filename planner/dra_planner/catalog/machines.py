"""Machine types of the clouds, with the resources of a node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog.tables import (
    Provenance,
    Row,
    flag,
    integer,
    provenance,
    read_table,
    unknown,
)
from dra_planner.errors import CatalogError
from dra_planner.wording import either

_SEE = "see `pulumi-dra catalog machines`"


class Accelerator(Struct, frozen=True, kw_only=True):
    """The accelerators of a machine, which all have the same model."""

    kind: str  # gpu, tpu, neuron, or inference
    vendor: str  # nvidia, amd, google, aws, and so on
    model: str  # name that the cloud uses
    count: int | None  # number of devices that the node sees
    gpu: str | None  # ID in the GPU table, for NVIDIA GPUs
    fraction: Fraction | None  # the node's share of a physical GPU, for virtual GPUs
    # memory that the cloud lists, which differs from the memory that a driver publishes
    listed_memory_mib: int | None
    # nominal size (80 for an A100 80GB), for messages but not for claims
    nominal_memory_gb: int | None
    # value of the label cloud.google.com/gke-accelerator or gke-tpu-accelerator
    gke_type: str | None


class Machine(Struct, frozen=True, kw_only=True):
    """A machine type. None means that no source contains the fact.

    Memory is the machine's total memory, before kernel and kubelet reservations.
    """

    cloud: str
    name: str  # name in a fleet; "n1-standard-8+nvidia-tesla-v100:2" has attached GPUs
    instance_type: str  # name in the cloud's API, which is the part before "+"
    family: str
    arch: Literal["amd64", "arm64"]
    vcpus: int | None
    memory_mib: int | None
    accelerator: Accelerator | None
    bare_metal: bool
    is_offered: bool  # False if the newest listing doesn't contain it in any region
    # regions in which the cloud lists it; empty if unknown, or if there are none
    regions: tuple[str, ...]
    # known zones, by region; if a region is missing, its zones are unknown
    zones: tuple[str, ...] = ()
    purchase: tuple[str, ...]  # on-demand, spot, capacity-block, and so on; empty if unknown
    default_card_enis: int | None = None  # EKS: number of interfaces on the default network card
    ipv4_per_eni: int | None = None
    efa_interfaces: int | None = None
    network_cards: int | None = None
    network_performance: str = ""  # as described by the cloud
    # GKE: number of networks that its blueprint attaches, in addition to the node's own network
    additional_networks: int | None = None
    rdma_networks: int | None = None  # number of these networks that use RDMA
    local_disks: int | None = None
    local_disk_gb: int | None = None  # in 10^9 bytes on EKS, and in GiB on GKE
    nvlink_nodes: int | None = None  # number of nodes in one NVLink domain
    has_infiniband: bool = False  # its network interfaces are on an InfiniBand fabric
    nics: int | None = None  # network interfaces, if the cloud publishes them
    # the machine's own disk, whose data is lost with the node
    temporary_disk_gib: int | None = None
    operating_systems: tuple[str, ...] = ()  # images that contain its driver; empty if unknown
    driver_kind: str = ""  # cuda-lts, grid, grid-v20, or none; "" if unknown
    provenance: Provenance

    @property
    def gpu_count(self) -> int:
        """Number of NVIDIA GPUs that the node sees.

        It's 0 for other accelerators, or if the number is unknown.
        """
        if self.accelerator is None or self.accelerator.gpu is None:
            return 0
        return self.accelerator.count or 0


@cache
def cloud_titles() -> Mapping[str, str]:
    """Return the clouds in the tables of machine types, with their common names."""
    return {row["cloud"]: row["title"] for row in read_table("clouds")}


@cache
def machines(cloud: str) -> tuple[Machine, ...]:
    """Return the machine types of a cloud that have or support accelerators, in table order.

    Raises CatalogError for an unknown cloud.
    """
    known = _cloud(cloud)
    return tuple(_machine(known, row) for row in read_table(f"machines_{known}"))


@cache
def machines_without_accelerators(cloud: str) -> tuple[Machine, ...]:
    """Return the common machine types of a cloud without accelerators, in table order."""
    return tuple(_machine(_cloud(cloud), row) for row in _plain_rows(_cloud(cloud)))


@cache
def machine(cloud: str, name: str) -> Machine:
    """Return a machine type.

    Raises CatalogError with the most similar names. On GKE, GPUs can be attached to N1 machines:
    `n1-standard-8+nvidia-tesla-v100:2` is an n1-standard-8 with two GPUs (`:1` can be omitted).
    """
    base, plus, attached = name.partition("+")
    rows = _rows(_cloud(cloud))
    for row in rows:
        if row["name"] == base:
            found = _machine(_cloud(cloud), row)
            return _attach(found, attached) if plus else found
    kind = f"{cloud_titles()[cloud]} machine type"
    elsewhere = [
        title for other, title in cloud_titles().items() if other != cloud and base in _names(other)
    ]
    if elsewhere:
        raise CatalogError(
            f'unknown {kind} "{name}"',
            fix=f"use a machine type that {cloud_titles()[cloud]} offers, because only "
            f"{elsewhere[0]} offers {base}; {_SEE}",
        )
    raise unknown(kind, name, [row["name"] for row in rows], fix=_SEE)


def find_machine(name: str) -> Machine:
    """Return the machine type with this name in any cloud. Raises CatalogError with the most
    similar names.
    """
    base = name.partition("+")[0]
    names: list[str] = []
    for cloud in cloud_titles():
        known = _names(cloud)
        if base in known:
            return machine(cloud, name)
        names += known
    raise unknown("machine type", name, names, fix=_SEE)


def check_region(found: Machine, region: str) -> None:
    """Raise CatalogError if the cloud lists the machine type in some regions, but not in this
    region.
    """
    if found.regions and region not in found.regions:
        check_listed_region(found.cloud, region)
        prefix = region.split("-")[0]
        near = [name for name in found.regions if name.startswith(f"{prefix}-")] or list(
            found.regions
        )
        raise CatalogError(
            f"{found.name} isn't available in region {region}",
            fix=f"use one of these regions: {', '.join(near)}",
        )


def check_listed_region(cloud: str, region: str) -> None:
    """Raise CatalogError with the most similar name if no machine type is listed in the region."""
    known = listed_regions(cloud)
    if known and region not in known:
        raise CatalogError(
            f'pulumi-dra doesn\'t know region "{region}", which might be misspelled or too new',
            fix=f"did you mean {_nearest(region, known)}?",
        )


@cache
def listed_regions(cloud: str) -> tuple[str, ...]:
    """Return the regions in which the tables list a machine type of a cloud, sorted."""
    return tuple(sorted({name for names in _regions(_cloud(cloud)).values() for name in names}))


def _nearest(word: str, known: Sequence[str]) -> str:
    """Return the known name with the same letters in another order, or the most similar known
    name.
    """
    letters = Counter(word)
    return max(
        known,
        key=lambda each: (
            letters == Counter(each),
            SequenceMatcher(None, word, each).ratio(),
        ),
    )


def _cloud(cloud: str) -> str:
    if cloud in cloud_titles():
        return cloud
    raise unknown("cloud", cloud, list(cloud_titles()))


def _names(cloud: str) -> list[str]:
    return [row["name"] for row in _rows(cloud)]


@cache
def _rows(cloud: str) -> tuple[Row, ...]:
    """Return the rows of all known machine types of a cloud.

    The last rows are machine types that the planner doesn't propose.
    """
    others = (row for row in read_table("machines_not_proposed") if row["cloud"] == cloud)
    return (*read_table(f"machines_{cloud}"), *_plain_rows(cloud), *others)


def _plain_rows(cloud: str) -> list[Row]:
    return [row for row in read_table("machines_without_accelerators") if row["cloud"] == cloud]


def _machine(cloud: str, row: Row) -> Machine:
    arch: Literal["amd64", "arm64"] = "arm64" if row["arch"] == "arm64" else "amd64"
    return Machine(
        cloud=cloud,
        name=row["name"],
        instance_type=row["name"],
        family=row["family"],
        arch=arch,
        vcpus=integer(row, "vcpus"),
        memory_mib=integer(row, "memory_mib"),
        accelerator=_accelerator(row),
        bare_metal=bool(flag(row, "bare_metal")),
        is_offered=not row.get("status"),
        regions=_regions(cloud).get(row["name"], ()),
        zones=_zones(cloud).get(row["name"])
        or _zones(cloud).get("-".join(row["name"].split("-")[:2]), ()),
        purchase=tuple(row.get("purchase", "").split()),
        default_card_enis=integer(row, "default_card_enis"),
        ipv4_per_eni=integer(row, "ipv4_per_eni"),
        efa_interfaces=integer(row, "efa_interfaces"),
        network_cards=integer(row, "network_cards"),
        network_performance=row.get("network_performance") or row.get("network_kind", ""),
        additional_networks=integer(row, "additional_networks"),
        rdma_networks=integer(row, "rdma_networks"),
        local_disks=integer(row, "local_disks"),
        local_disk_gb=integer(row, "local_disk_gb") or integer(row, "local_disk_gib"),
        nvlink_nodes=integer(row, "nvlink_nodes"),
        has_infiniband=bool(flag(row, "infiniband")),
        nics=integer(row, "nics"),
        temporary_disk_gib=integer(row, "temp_disk_gib"),
        operating_systems=tuple(row.get("supported_os", "").split()),
        driver_kind=row.get("driver_install", ""),
        provenance=provenance(row),
    )


def _accelerator(row: Row) -> Accelerator | None:
    if not row.get("accelerator_kind"):
        return None
    return Accelerator(
        kind=row["accelerator_kind"],
        vendor=row["accelerator_vendor"],
        model=row["accelerator_model"],
        count=integer(row, "accelerator_count"),
        gpu=row["gpu"] or None,
        fraction=Fraction(row["gpu_fraction"]) if row["gpu_fraction"] else None,
        listed_memory_mib=integer(row, "accelerator_memory_mib"),
        nominal_memory_gb=integer(row, "accelerator_memory_gb_nominal"),
        gke_type=row.get("gke_type") or None,
    )


@cache
def _regions(cloud: str) -> dict[str, tuple[str, ...]]:
    return {
        row["machine"]: tuple(row["regions"].split())
        for row in read_table("regions")
        if row["cloud"] == cloud
    }


@cache
def _zones(cloud: str) -> dict[str, tuple[str, ...]]:
    return {
        row["machines"]: tuple(row["zones"].split())
        for row in read_table("zones")
        if row["cloud"] == cloud
    }


def _attach(base: Machine, text: str) -> Machine:
    """Return an N1 machine with GPUs. Raises CatalogError for combinations that Compute Engine
    would reject.
    """
    gke_type, _, number = text.partition(":")
    rows = [
        row
        for row in read_table("attachable_gpus")
        if (row["cloud"], row["machine_family"]) == (base.cloud, base.family)
    ]
    if not rows:
        raise CatalogError(
            f"{base.name} doesn't support attached GPUs", fix="remove the + and the text after it"
        )
    of_type = [row for row in rows if row["gke_type"] == gke_type]
    if not of_type:
        raise unknown("GPU to attach", gke_type, sorted({row["gke_type"] for row in rows}))
    counts = [row["count"] for row in of_type]
    if not re.fullmatch(r"[1-9]\d*", number or "1") or (number or "1") not in counts:
        raise CatalogError(
            f'{base.name} doesn\'t support "{number}" GPUs of type {gke_type}',
            fix=f"attach {either(counts)} GPUs",
        )
    row = next(row for row in of_type if row["count"] == (number or "1"))
    if (base.vcpus or 0) > int(row["max_vcpus"]):
        raise CatalogError(
            f"{base.name} has {base.vcpus} vCPUs, but the limit with {number or 1} × {gke_type} is "
            f"{row['max_vcpus']}",
            fix=f"attach {_enough(of_type, base)}",
        )
    accelerator = Accelerator(
        kind="gpu",
        vendor="nvidia",
        model=gke_type,
        count=int(row["count"]),
        gpu=row["gpu"],
        fraction=None,
        listed_memory_mib=None,
        nominal_memory_gb=None,
        gke_type=gke_type,
    )
    regions = tuple(
        region for region in row["regions"].split() if not base.regions or region in base.regions
    )
    name = base.name + "+" + gke_type + (f":{row['count']}" if row["count"] != "1" else "")
    return replace(
        base, name=name, accelerator=accelerator, regions=regions, provenance=provenance(row)
    )


def _enough(rows: list[Row], base: Machine) -> str:
    fitting = [row["count"] for row in rows if int(row["max_vcpus"]) >= (base.vcpus or 0)]
    return f"{fitting[0]} or more GPUs" if fitting else "the GPUs to a smaller machine type"
