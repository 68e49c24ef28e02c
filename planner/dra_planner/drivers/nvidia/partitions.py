"""Dynamic MIG: every placement of every profile is a device, and the GPU's counters prevent
overlapping placements.

Source: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/{partitions,driver,nvlib}.go at
v25.12.0 and v0.4.1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog import Machine
from dra_planner.drivers.nvidia.devices import (
    ENGINES,
    Board,
    as_set,
    boards,
    count,
    mebibytes,
    partition,
    whole_gpu,
)
from dra_planner.drivers.nvidia.gpus import Gpu, MigProfile, mig_profiles
from dra_planner.drivers.nvidia.mig import MigInstance
from dra_planner.drivers.nvidia.releases import DriverRelease
from dra_planner.drivers.nvidia.settings import PublishingSettings
from dra_planner.errors import CatalogError
from dra_planner.model import CounterConsumption, CounterSet, Device, DeviceCapacity
from dra_planner.quantity import Quantity


class PartitionedGpu(Struct, frozen=True):
    """One GPU with all its MIG devices, and the counters that they share (none for a GPU without
    MIG).
    """

    devices: tuple[Device, ...]
    counters: CounterSet | None


def predict_partitions(
    machine: Machine, driver: DriverRelease, mig: str, settings: PublishingSettings
) -> list[PartitionedGpu]:
    """Return each GPU of a node with its MIG devices, sorted by minor number.

    If the GPU itself is published, it comes first. Raises CatalogError if the driver version would
    publish slices that the API server rejects, or if the placements of the GPU's profiles are
    unknown.
    """
    found: list[PartitionedGpu] = []
    for board in boards(machine):
        whole = _partitionable(board, driver, mig)
        gpu = (
            PartitionedGpu((whole_gpu(board, driver),), None)
            if whole is None
            else _partitioned(board, driver, whole)
        )
        found.append(replace(gpu, devices=tuple(as_set(gpu.devices, driver, settings))))
    return found


def _partitionable(board: Board, driver: DriverRelease, mig: str) -> bool | None:
    """Return whether the whole GPU is published in addition to its MIG devices.

    None means that only the whole GPU is published.
    """
    model = board.model
    name = model.product_name or model.id
    if board.is_share or model.is_virtual or not model.mig_capable:
        if driver.generation == "25.12":
            raise CatalogError(
                f"with DynamicMIG, version {driver.version} of the NVIDIA DRA driver publishes an invalid slice "
                f"for {name} "
                "(dra-driver-nvidia-gpu issue 1092)",
                fix="use version 0.4.0 or later (newer than 25.12.0), or turn DynamicMIG off",
            )
        return None
    profiles = mig_profiles(model.id)
    if not profiles or any(profile.size is None for profile in profiles):
        raise CatalogError(
            f"the placements of MIG profiles on {name} are unknown",
            fix="turn DynamicMIG off",
        )
    return whole_beside_partitions(model, driver, mig)


def whole_beside_partitions(model: Gpu, driver: DriverRelease, mig: str) -> bool | None:
    """Return whether a MIG-capable GPU is published in addition to its MIG devices. None means that
    only the whole GPU is published.

    Ampere GPUs can't turn MIG mode on while the driver runs, so their partitions need MIG mode from
    the start.
    """
    if model.mig_toggles_without_reset or driver.generation == "25.12":
        return True
    return False if mig == "all-enabled" else None


def _partitioned(board: Board, driver: DriverRelease, with_whole: bool) -> PartitionedGpu:
    profiles = mig_profiles(board.model.id)
    totals = _totals(board, profiles)
    slices = max((profile.size or 0) for profile in profiles)
    name = f"{board.name}-counter-set"
    counted = _counted(profiles)
    every = {**_counters(totals, counted), **_slices(0, slices)}
    devices: list[Device] = []
    if with_whole:
        gpu = whole_gpu(board, driver)
        devices.append(replace(gpu, capacity=totals, consumes_counters=(_draws(name, every),)))
    for profile in profiles:
        for start in profile.starts:
            cut = partition(board, driver, MigInstance(profile, start))
            drawn = {**_counters(cut.capacity, counted), **_slices(start, profile.size or 0)}
            devices.append(replace(cut, consumes_counters=(_draws(name, drawn),)))
    published = tuple(_without(device, _missing(device, driver)) for device in devices)
    return PartitionedGpu(published, CounterSet(name=name, counters=every))


def _missing(device: Device, driver: DriverRelease) -> set[str]:
    """Return the attributes that a release doesn't publish with DynamicMIG (issue 880 for
    25.12.0).
    """
    is_partition = device.attributes["type"] == "mig"
    missing = {"uuid"} if is_partition else set()
    if driver.generation == "25.12":
        missing |= (
            {"addressingMode", "resource.kubernetes.io/pcieRoot"}
            if is_partition
            else {"addressingMode"}
        )
    return missing


def _counted(profiles: Sequence[MigProfile]) -> set[str]:
    """Return the kinds of capacity whose amount is known for every profile.

    Other kinds are omitted from the counters. Memory slices are always counted, so they limit the
    partitions instead.
    """
    columns = {"memory_mib": "memory", **ENGINES}
    return {
        name
        for column, name in columns.items()
        if all(getattr(profile, column) is not None for profile in profiles)
    }


def _totals(board: Board, profiles: Sequence[MigProfile]) -> dict[str, DeviceCapacity]:
    """Return the largest amount of each kind over all profiles.

    The amount is Unknown if it's unknown for one of the profiles.
    """
    memory = [profile.memory_mib for profile in profiles]
    known = [amount for amount in memory if amount is not None]
    largest = board.model.dynamic_mig_memory_mib or (
        max(known) if len(known) == len(memory) else None
    )
    totals = {"memory": mebibytes(largest)}
    for column, name in ENGINES.items():
        amounts: list[int | None] = [getattr(profile, column) for profile in profiles]
        known = [amount for amount in amounts if amount is not None]
        totals[name] = count(max(known) if len(known) == len(amounts) else None)
    return totals


def _counters(
    amounts: Mapping[str, DeviceCapacity], counted: Collection[str]
) -> dict[str, Quantity]:
    """Return the amount that a device consumes of each counted kind.

    The names are spelled as in counters, for example copy-engines.
    """
    return {
        re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name): capacity.value
        for name, capacity in amounts.items()
        if name in counted and isinstance(capacity.value, Quantity)
    }


def _slices(start: int, size: int) -> dict[str, Quantity]:
    return {f"memory-slice-{index}": Quantity.from_int(1) for index in range(start, start + size)}


def _draws(name: str, counters: dict[str, Quantity]) -> CounterConsumption:
    return CounterConsumption(counter_set=name, counters=counters)


def _without(device: Device, names: Collection[str]) -> Device:
    return replace(
        device,
        attributes={name: value for name, value in device.attributes.items() if name not in names},
    )
