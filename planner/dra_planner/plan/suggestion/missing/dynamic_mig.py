"""Dynamic MIG for pods that need MIG devices, for clouds without MIG configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.model import Shape
from dra_planner.plan.suggestion.missing.new_pools import (
    NEW_POOL,
    layouts_of,
    machine_text,
    machines_by_price,
    new_pool,
    zone_text,
)
from dra_planner.plan.suggestion.missing.tried_fleets import FleetChange, FleetTrials
from dra_planner.releases import MAXIMUM_MINOR, is_newer
from dra_planner.wording import listed

_GATE: Final = "DynamicMIG"
_ENABLED: Final = "all-enabled"


def dynamic_changes(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return dynamic partitioning for the first pool with which the pod then fits.

    If no pool helps, the change is for the cheapest new pool. The change includes the oldest
    Kubernetes version and the nearest driver version that support dynamic partitioning.
    """
    for settings in _settings(trials.fleet):
        for pool in trials.fleet.pools:
            for parts in ([], [f"pools.{pool.name}.mig={_ENABLED}"]):
                fleet = _changed(trials.fleet, [*settings, *parts])
                if fleet is None:
                    continue
                text = (
                    f"set {_quoted([*settings, *parts])} in the fleet, so that the pod "
                    f'fits in pool "{pool.name}"'
                )
                found = trials.change(shape, fleet.document(), pool.name, text)
                if found is not None:
                    return (found.change,)
        found_new = _new_dynamic_pool(shape, trials, settings)
        if found_new is not None:
            return (found_new,)
    return ()


def _new_dynamic_pool(
    shape: Shape, trials: FleetTrials, settings: Sequence[str]
) -> FleetChange | None:
    fleet = _changed(trials.fleet, settings)
    if fleet is None:
        return None
    for hourly, machine in machines_by_price(fleet):
        if not layouts_of(machine):
            continue
        document = fleet.document()
        row = new_pool(fleet, machine)
        document["pools"] = [*document["pools"], {**row, "mig": _ENABLED}]
        text = (
            f"set {_quoted(settings)} in the fleet, and add a pool with machine type "
            f"{machine_text(machine, hourly)} and `mig: {_ENABLED}`{zone_text(row)}"
        )
        found = trials.change(shape, document, NEW_POOL, text)
        if found is not None:
            return found.change
    return None


def _settings(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """Yield the settings with which the driver partitions GPUs, for each Kubernetes version."""
    options = fleet.drivers.of(nvidia.DRIVER)
    if options is None:
        return
    release = nvidia.driver_release(options.version)
    driver = release if _GATE in release.feature_gates else nvidia.newest_driver_release()
    for minor in range(fleet.minor, MAXIMUM_MINOR + 1):
        yield (
            *([f"kubernetes=1.{minor}"] if is_newer(minor, fleet.minor) else []),
            *([] if driver is release else [f"drivers.nvidia.version={driver.version}"]),
            f"drivers.nvidia.featureGates.{_GATE}=true",
        )


def _changed(fleet: Fleet, settings: Sequence[str]) -> Fleet | None:
    try:
        return change_fleet(fleet, [read_change(each) for each in settings])
    except PlannerError:  # the cloud, the driver version, or Kubernetes doesn't support it
        return None


def _quoted(settings: Sequence[str]) -> str:
    return listed([f"`{each}`" for each in settings])
