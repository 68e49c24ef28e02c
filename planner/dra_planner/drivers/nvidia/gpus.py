"""GPU models: the values that a driver reads, and the possible MIG devices."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import (
    Provenance,
    Row,
    flag,
    integer,
    provenance,
    read_table,
    unknown,
)


class Gpu(Struct, frozen=True, kw_only=True):
    """A GPU model as NVML describes it.

    None means that the fact is unknown. `memory_mib` is the amount that the driver publishes
    (NVML's total), which is less than the nominal memory. `dynamic_mig_memory_mib` replaces this
    amount if the driver publishes MIG devices dynamically (DynamicMIG feature gate).
    """

    id: str
    product_name: str | None
    brand: str | None
    architecture: str | None
    cuda_compute_capability: str | None  # "9.0.0"
    memory_mib: int | None
    dynamic_mig_memory_mib: int | None
    is_virtual: bool  # a share of a physical GPU, as presented by the hypervisor
    mig_capable: bool
    mig_table: str | None  # ID of the GPU whose profile table applies to this GPU
    mig_toggles_without_reset: bool
    memory_slices: int | None
    compute_domains: bool
    provenance: Provenance


class MigProfile(Struct, frozen=True, kw_only=True):
    """A MIG profile. Engine counts are for one instance, and None means unknown."""

    gpu: str
    name: str  # "1g.10gb+me"
    gi_profile_id: int | None
    memory_mib: int | None
    multiprocessors: int | None
    copy_engines: int | None
    decoders: int | None
    encoders: int | None
    jpeg_engines: int | None
    ofa_engines: int | None
    max_instances: int
    size: int | None  # number of memory slices that one instance uses
    starts: tuple[int, ...]  # memory slices at which an instance can start
    provenance: Provenance


@cache
def gpus() -> tuple[Gpu, ...]:
    """Return every GPU model, in table order."""
    return tuple(_gpu(row) for row in read_table("gpus"))


def gpu(gpu_id: str) -> Gpu:
    """Return the GPU model with this ID, for example "h100-sxm5-80gb".

    Raises CatalogError with the most similar IDs.
    """
    for candidate in gpus():
        if candidate.id == gpu_id:
            return candidate
    raise unknown(
        "GPU", gpu_id, [known.id for known in gpus()], fix="see `pulumi-dra catalog gpus`"
    )


@cache
def mig_profiles(gpu_id: str) -> tuple[MigProfile, ...]:
    """Return the MIG profiles of a GPU model.

    The result is empty if the model doesn't support MIG, or if its profiles are unknown.
    """
    table = gpu(gpu_id).mig_table
    return tuple(_profile(row) for row in read_table("mig_profiles") if row["gpu"] == table)


def _gpu(row: Row) -> Gpu:
    return Gpu(
        id=row["id"],
        product_name=row["product_name"] or None,
        brand=row["brand"] or None,
        architecture=row["architecture"] or None,
        cuda_compute_capability=row["cuda_compute_capability"] or None,
        memory_mib=integer(row, "memory_mib"),
        dynamic_mig_memory_mib=integer(row, "dynamic_mig_memory_mib"),
        is_virtual=bool(flag(row, "virtual")),
        mig_capable=bool(flag(row, "mig_capable")),
        mig_table=row["mig_table"] or None,
        mig_toggles_without_reset=bool(flag(row, "mig_toggle_without_reset")),
        memory_slices=integer(row, "memory_slices"),
        compute_domains=bool(flag(row, "compute_domains")),
        provenance=provenance(row),
    )


def _profile(row: Row) -> MigProfile:
    return MigProfile(
        gpu=row["gpu"],
        name=row["profile"],
        gi_profile_id=integer(row, "gi_profile_id"),
        memory_mib=integer(row, "memory_mib"),
        multiprocessors=integer(row, "multiprocessors"),
        copy_engines=integer(row, "copy_engines"),
        decoders=integer(row, "decoders"),
        encoders=integer(row, "encoders"),
        jpeg_engines=integer(row, "jpeg_engines"),
        ofa_engines=integer(row, "ofa_engines"),
        max_instances=int(row["max_instances"]),
        size=integer(row, "size"),
        starts=tuple(int(start) for start in row["starts"].split()),
        provenance=provenance(row),
    )
