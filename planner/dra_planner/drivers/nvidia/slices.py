"""Predict the ResourceSlices of a node from its machine type, the driver's version, and the
settings.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.catalog import Machine
from dra_planner.clouds import cloud_of
from dra_planner.drivers.nvidia.cloud_support import gate_faults_on, mig_faults_on
from dra_planner.drivers.nvidia.compute_domains import COMPUTE_DOMAIN_DRIVER, compute_domain_devices
from dra_planner.drivers.nvidia.devices import GPU_DRIVER, predict_devices
from dra_planner.drivers.nvidia.partitions import PartitionedGpu, predict_partitions
from dra_planner.drivers.nvidia.releases import DriverRelease, require_installable
from dra_planner.drivers.nvidia.settings import PublishingSettings, driver_faults, machine_faults
from dra_planner.errors import CatalogError
from dra_planner.model import CounterSet, Device, ResourceSlice
from dra_planner.releases import Features

_DEFAULTS = PublishingSettings()
_Content = tuple[tuple[Device, ...], tuple[CounterSet, ...]]


def predict_slices(
    machine: Machine,
    driver: DriverRelease,
    *,
    node_name: str,
    features: Features,
    mig: str = "none",
    settings: PublishingSettings = _DEFAULTS,
) -> tuple[ResourceSlice, ...]:
    """Return the slices that the NVIDIA driver publishes on such a node, by pool, in the driver's
    order.

    Attributes and capacities are known, `Unknown()`, or `Unknown(group)` if they are equal on
    devices of one group. `mig` is a configuration of `nvidia.mig`. A machine without NVIDIA GPUs
    doesn't publish GPU devices. Slice names end in the node's name, because real names have a
    random suffix.

    Raises CatalogError for a driver version, MIG configuration, or setting that can't work on the
    machine, and UnsupportedFeature for a feature that the cloud or the Kubernetes version doesn't
    support.
    """
    _check_settings(machine, require_installable(driver), settings, mig, features)
    slices: list[ResourceSlice] = []
    if machine.accelerator is not None and machine.accelerator.gpu is not None:
        if machine.accelerator.count is None:
            raise CatalogError(
                f"the number of GPUs on {machine.name} is unknown", fix="use another machine type"
            )
        if settings.has("DynamicMIG", driver):
            contents = _split(predict_partitions(machine, driver, mig, settings), features)
        else:
            contents = [(tuple(predict_devices(machine, driver, mig, settings)), ())]
        slices.extend(_pool(GPU_DRIVER, node_name, contents))
        if settings.compute_domains:
            slices.extend(_pool(COMPUTE_DOMAIN_DRIVER, node_name, [(compute_domain_devices(), ())]))
    return tuple(slices)


def _check_settings(
    machine: Machine,
    driver: DriverRelease,
    settings: PublishingSettings,
    mig: str,
    features: Features,
) -> None:
    cloud = cloud_of(machine)
    faults = [
        *(error for _, error in driver_faults(driver, settings, features)),
        *gate_faults_on(cloud, driver, settings),
        *machine_faults(machine, driver, settings, mig),
        *mig_faults_on(cloud, driver, settings, mig),
    ]
    if faults:
        first, *others = faults
        raise type(first)(first.message, fix=first.fix, others=tuple(others))


def _split(gpus: Sequence[PartitionedGpu], features: Features) -> list[_Content]:
    """Split partitioned GPUs into slices as the driver version does: with counter sets and devices
    in the same slice, or with a separate slice for counter sets.
    """
    sets = [(gpu.counters,) if gpu.counters else () for gpu in gpus]
    if not features.counter_sets_apart:
        return [(gpu.devices, own) for gpu, own in zip(gpus, sets, strict=True)]
    counters: _Content = ((), tuple(counter_set for own in sets for counter_set in own))
    devices: list[_Content] = [(gpu.devices, ()) for gpu in gpus]
    return [counters, *devices] if counters[1] else devices


def _pool(driver: str, node_name: str, contents: Sequence[_Content]) -> list[ResourceSlice]:
    return [
        ResourceSlice(
            name=f"{index:05x}-{driver}-{node_name}",
            driver=driver,
            pool=node_name,
            slice_count=len(contents),
            node_name=node_name,
            devices=devices,
            shared_counters=counters,
        )
        for index, (devices, counters) in enumerate(contents)
    ]
