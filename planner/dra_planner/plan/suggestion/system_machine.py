"""The machine type of a fleet's system pool, for a new pool and for a larger one."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from dra_planner import catalog
from dra_planner.allocation import Placement
from dra_planner.catalog import Machine
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import DemandLevel, Shape
from dra_planner.offers import predict_system_offer
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.system_pods import SystemPods, set_aside
from dra_planner.sizing import DoubtfulPlace

_GIB: Final = 8
_VCPUS: Final = 2


def cheapest_system_machine(cloud: str, region: str) -> str:
    """Return the cheapest machine type without devices in the region that holds controllers and
    add-ons, or the smallest one if no price is known.
    """
    machines = [
        machine
        for machine in catalog.machines_without_accelerators(cloud)
        if machine.arch == "amd64"
        and (machine.vcpus or 0) >= _VCPUS
        and (machine.memory_mib or 0) >= _GIB * 1024
    ]
    priced = [
        (price.usd_per_hour, machine.name)
        for machine in machines
        if (price := catalog.price(machine, region)) is not None
    ]
    if priced:
        return min(priced)[1]
    return min(machines, key=lambda each: (each.vcpus or 0, each.memory_mib or 0)).name


def larger_system_machine(fleet: Fleet, pods: Iterable[Shape], judgement: Judgement) -> str:
    """Return the cheapest machine type for the system pool on which one pod of each shape fits an
    empty node.

    Returns "" if the pool's current machine type holds them, or if no suitable type is known.
    Machine types without a price come last, the smallest first.
    """
    shapes = list(pods)
    if predict_system_offer(fleet) is None or _holds(fleet, shapes, judgement):
        return ""
    arch = fleet.machine(fleet.system_pool.machine).arch
    machines = [
        machine
        for machine in catalog.machines_without_accelerators(fleet.cloud)
        if machine.arch == arch and machine.is_offered
    ]

    def cost(machine: Machine) -> tuple[bool, Decimal, int, int, str]:
        price = catalog.price(machine, fleet.region)
        hourly = Decimal(0) if price is None else price.usd_per_hour
        return price is None, hourly, machine.vcpus or 0, machine.memory_mib or 0, machine.name

    for machine in sorted(machines, key=cost):
        document = fleet.document()
        document["systemPool"] = {**document.get("systemPool", {}), "machine": machine.name}
        try:
            larger = read_fleet(document)
        except PlannerError:  # the cloud doesn't support the machine type in this pool
            continue
        if _holds(larger, shapes, judgement):
            return machine.name
    return ""


def needed_system_nodes(fleet: Fleet, judgement: Judgement, level: DemandLevel) -> int:
    """Return the number of nodes in the system pool that the pods on it need at a level, but at
    least the fleet's number.
    """
    _, demand = set_aside(judgement.demand, judgement.offers)
    pods = SystemPods.of(demand, fleet, judgement.classes, judgement.features)
    pools = () if pods.sizer is None else pods.sizer.size(level).pools
    return max(fleet.system_pool.count, *(pool.enough for pool in pools), 0)


def system_nodes_usd(fleet: Fleet | None) -> Decimal | None:
    """Return the price per hour of a fleet's system nodes, or None if it isn't known."""
    if fleet is None:
        return None
    price = catalog.price(fleet.machine(fleet.system_pool.machine), fleet.region)
    return None if price is None else price.usd_per_hour * fleet.system_pool.count


def _holds(fleet: Fleet, shapes: Iterable[Shape], judgement: Judgement) -> bool:
    offer = predict_system_offer(fleet)
    if offer is None:
        return False
    doubtful_place = DoubtfulPlace()
    node, _ = doubtful_place.open(offer, judgement.classes, judgement.features, judgement.demand)
    return all(isinstance(doubtful_place(shape, node), Placement) for shape in shapes)
