"""Additional pools that hold a pod, with the cheapest machine types of the fleet's region."""

from __future__ import annotations

from collections.abc import Callable
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
    """Return the cheapest machine types whose nodes hold the pod, one for each GPU.

    If `below` is a price, the result contains only types that cost less.
    """

    def whole(machine: Machine, _: Gpu, text: str) -> TriedFleet | None:
        return _tried(shape, trials, machine, text)

    return _cheapest(trials, below, whole)


def partitioned_pools(
    shape: Shape, trials: FleetTrials, below: Decimal = UNKNOWN_PRICE
) -> tuple[FleetChange, ...]:
    """Return the cheapest machine types whose nodes hold the pod with a MIG configuration, each
    with the configuration that holds pods of the most shapes, and then the most pods. If `below` is
    a price, the result contains only types that cost less.
    """

    def partitioned(machine: Machine, gpu: Gpu, text: str) -> TriedFleet | None:
        tried = [
            _tried(shape, trials, machine, f"{text} and `mig: {name}`", mig=name)
            for name in nvidia.mig_layouts(gpu)
        ]
        fitting = [each for each in tried if each is not None]
        return max(fitting, key=lambda each: each.rank, default=None)

    return _cheapest(trials, below, partitioned)


def _cheapest(
    trials: FleetTrials,
    below: Decimal,
    try_machine: Callable[[Machine, Gpu, str], TriedFleet | None],
) -> tuple[FleetChange, ...]:
    """Return the changes with the cheapest machine types that help, one for each GPU."""
    changes: dict[str, FleetChange] = {}
    for hourly, gpu, machine in machines_by_price(trials.fleet):
        if len(changes) == MOST_MACHINES or hourly >= below != UNKNOWN_PRICE:
            break
        if gpu.id in changes:
            continue
        found = try_machine(machine, gpu, machine_text(machine, gpu, hourly))
        if found is not None:
            changes[gpu.id] = found.change
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


def machines_by_price(fleet: Fleet) -> list[tuple[Decimal, Gpu, Machine]]:
    """Return the GPU machine types that are known to be in the fleet's region, cheapest first and
    unknown prices last.
    """
    found: list[tuple[Decimal, Gpu, Machine]] = []
    for machine in catalog.machines(fleet.cloud):
        if machine.accelerator is None or machine.accelerator.gpu is None or not machine.gpu_count:
            continue
        if machine.is_offered and fleet.region in machine.regions:
            own = _own_price(fleet, machine)
            price = catalog.price(machine, fleet.region)
            listed_price = price.usd_per_hour_max if price is not None else UNKNOWN_PRICE
            hourly = listed_price if own is None else own
            found.append((hourly, nvidia.gpu(machine.accelerator.gpu), machine))
    return sorted(found, key=lambda each: (each[0], each[2].name))


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


def machine_text(machine: Machine, gpu: Gpu, hourly: Decimal) -> str:
    """Return a machine type with its GPUs and its price per hour in USD, if known."""
    memory = f", {gpu.memory_mib / 1024:.4g} GiB each" if gpu.memory_mib is not None else ""
    price = "" if hourly == UNKNOWN_PRICE else f", USD {hourly:.2f} per hour"
    arch = "" if machine.arch == "amd64" else f", {machine.arch}"
    return (
        f"{machine.name} ({machine.gpu_count} × {gpu.product_name or gpu.id}{memory}{arch}{price})"
    )
