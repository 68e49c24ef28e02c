"""Additional pools that hold a pod, with the cheapest machine types of the fleet's region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import Gpu
from dra_planner.fleet import Fleet
from dra_planner.model import Shape
from dra_planner.plan.suggestion.missing.tried_fleets import (
    MOST_PODS,
    FleetChange,
    FleetTrials,
    TriedFleet,
)

MOST_MACHINES: Final = 3
# a name that fleets are unlikely to contain, and that is short enough for every cloud
NEW_POOL: Final = "besideothers"
UNKNOWN_PRICE: Final = Decimal("Infinity")
_KARPENTER: Final = "karpenter"


def whole_gpu_pools(
    shape: Shape, trials: FleetTrials, below: Decimal = UNKNOWN_PRICE
) -> tuple[FleetChange, ...]:
    """Return the cheapest machine types whose nodes hold the pod, one for each kind of device.

    If `below` is a price, the result contains only types that cost less.
    """

    def whole(machine: Machine, text: str) -> TriedFleet | None:
        return _tried(shape, trials, machine, text)

    return _cheapest(trials, below, whole)


def partitioned_pools(
    shape: Shape, trials: FleetTrials, below: Decimal = UNKNOWN_PRICE
) -> tuple[FleetChange, ...]:
    """Return the cheapest machine types whose nodes hold the pod with a MIG configuration, each
    with the configuration that holds pods of the most shapes, and then the most pods. If `below` is
    a price, the result contains only types that cost less.
    """

    def partitioned(machine: Machine, text: str) -> TriedFleet | None:
        tried = [
            _tried(shape, trials, machine, f"{text} and `mig: {name}`", mig=name)
            for name in layouts_of(machine)
        ]
        fitting = [each for each in tried if each is not None]
        return max(fitting, key=lambda each: each.rank, default=None)

    return _cheapest(trials, below, partitioned)


def _cheapest(
    trials: FleetTrials,
    below: Decimal,
    try_machine: Callable[[Machine, str], TriedFleet | None],
) -> tuple[FleetChange, ...]:
    """Return the changes with the cheapest machine types that help, one for each kind of device."""
    changes: dict[str, FleetChange] = {}
    for hourly, machine in machines_by_price(trials.fleet):
        if len(changes) == MOST_MACHINES or hourly >= below != UNKNOWN_PRICE:
            break
        accelerator = machine.accelerator
        key = accelerator.gpu or accelerator.model if accelerator is not None else ""
        if key in changes:
            continue
        found = try_machine(machine, machine_text(machine, hourly))
        if found is not None:
            changes[key] = found.change
    return tuple(changes.values())


def _tried(
    shape: Shape, trials: FleetTrials, machine: Machine, text: str, mig: str = ""
) -> TriedFleet | None:
    document = trials.fleet.document()
    row = new_pool(trials.fleet, machine)
    document["pools"] = [*document["pools"], {**row, "mig": mig} if mig else row]
    sentence = f"add a pool with machine type {text}{zone_text(row)}"
    tried = trials.change(shape, document, NEW_POOL, sentence, most=MOST_PODS if mig else 1)
    if tried is None or mig:
        return tried
    (zone,) = row.get("zones", ("",))
    return tried._replace(change=replace(tried.change, machine=text, zone=zone))


def zone_text(row: dict[str, Any]) -> str:
    """Return the zone of an additional pool as the end of a sentence, or ""."""
    return f", in zone {row['zones'][0]}" if "zones" in row else ""


def machines_by_price(fleet: Fleet) -> list[tuple[Decimal, Machine]]:
    """Return the machine types that the fleet's drivers serve and that are known to be in its
    region, cheapest first and unknown prices last.
    """
    drivers = [driver for driver, _ in fleet.drivers.installed() if not driver.is_network]
    found: list[tuple[Decimal, Machine]] = []
    for machine in catalog.machines(fleet.cloud):
        if machine.accelerator is None or not machine.accelerator.count:
            continue
        if not any(driver.serves(machine) for driver in drivers):
            continue
        if machine.is_offered and fleet.region in machine.regions:
            own = _own_price(fleet, machine)
            price = catalog.price(machine, fleet.region)
            listed_price = price.usd_per_hour_max if price is not None else UNKNOWN_PRICE
            hourly = listed_price if own is None else own
            found.append((hourly, machine))
    return sorted(found, key=lambda each: (each[0], each[1].name))


def _own_price(fleet: Fleet, machine: Machine) -> Decimal | None:
    """Return the price that an on-demand pool of the fleet sets for its machine type, so that a
    report has one price for each type.
    """
    return next(
        (
            pool.price_per_hour
            for pool in fleet.pools
            if pool.machine == machine.name
            and pool.capacity == "on-demand"
            and pool.price_per_hour is not None
        ),
        None,
    )


def new_pool(fleet: Fleet, machine: Machine) -> dict[str, Any]:
    """Return the row of an additional pool with a machine type."""
    own = _own_price(fleet, machine)
    row = {"name": NEW_POOL, "machine": machine.name, "count": {"min": 0, "max": 1}}
    row |= zones_of_new_pool(fleet)
    return row if own is None else {**row, "pricePerHour": str(own)}


def zones_of_new_pool(fleet: Fleet) -> dict[str, list[str]]:
    """Return the zones that an additional pool must set: with Karpenter, the zone of the first
    pool, because each pool needs exactly one.
    """
    zones = [zone for pool in fleet.pools for zone in pool.zones]
    return {"zones": zones[:1]} if fleet.autoscaler == _KARPENTER and zones else {}


def _gpu(machine: Machine) -> Gpu | None:
    """Return the NVIDIA GPU of a machine type, or None for other devices."""
    accelerator = machine.accelerator
    return nvidia.gpu(accelerator.gpu) if accelerator and accelerator.gpu else None


def layouts_of(machine: Machine) -> Sequence[str]:
    """Return the names of the MIG configurations of a machine type's GPUs."""
    gpu = _gpu(machine)
    return () if gpu is None else nvidia.mig_layouts(gpu)


def _device(machine: Machine) -> str:
    """Return the name of the devices of a machine type."""
    gpu, accelerator = _gpu(machine), machine.accelerator
    if gpu is not None:
        return gpu.product_name or gpu.id
    if accelerator is None:
        return ""
    is_version = accelerator.model.islower()  # v6e, for example
    return f"{accelerator.kind.upper()} {accelerator.model}" if is_version else accelerator.model


def machine_text(machine: Machine, hourly: Decimal) -> str:
    """Return a machine type with its devices and its price per hour in USD, if known."""
    gpu, accelerator = _gpu(machine), machine.accelerator
    mib = None if gpu is None else gpu.memory_mib
    memory = "" if mib is None else f", {mib / 1024:.4g} GiB each"
    price = "" if hourly == UNKNOWN_PRICE else f", USD {hourly:.2f} per hour"
    arch = "" if machine.arch == "amd64" else f", {machine.arch}"
    count = accelerator.count if accelerator is not None else 0
    return f"{machine.name} ({count} × {_device(machine)}{memory}{arch}{price})"
