"""A fleet for regions without prices, with the smallest suitable machine types in the region."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.fleet import read_fleet
from dra_planner.plan.model import Plan, PlanRequest
from dra_planner.plan.planning import make_plan
from dra_planner.plan.suggestion.buyable_machines import buyable_machines
from dra_planner.plan.suggestion.fleet_documents import fleet_document
from dra_planner.plan.suggestion.planned_fleets import ROOM
from dra_planner.plan.suggestion.suggest import checked_request, plan_on_all
from dra_planner.plan.suggestion.suggestions import PoolType, SuggestRequest


class SmallestFleet(Struct, frozen=True, kw_only=True):
    """A fleet as plain data, its plan, and the number of its GPUs."""

    document: dict[str, Any]
    plan: Plan
    gpus: int


def smallest_fleet(request: SuggestRequest) -> SmallestFleet | None:
    """Return the fleet with the smallest machine type for each kind of pods, with or without known
    prices.

    Returns None if the fleet doesn't fit.

    Machine types with a part of a GPU aren't used. Raises PlannerError for invalid input.
    """
    request = replace(checked_request(request), whole_gpus=True)
    machines = sorted(
        (PoolType(machine) for machine in buyable_machines(request, {}, priced=False)), key=_size
    )
    if not machines:
        return None
    candidates, plan = plan_on_all(request, machines)
    where = cloud(request.cloud)
    smallest = {each.name(where): each for each in reversed(candidates)}
    chosen: dict[str, PoolType] = {}
    for shape in plan.demand.shapes:
        if shape.id in plan.judgement.on_system:
            continue
        fitting = [
            smallest[answer.offer.name]
            for answer in plan.judgement.answers(shape)
            if answer.verdict == "fits"
        ]
        if not fitting:
            return None
        pool = min(fitting, key=_size)
        chosen[pool.name(where)] = pool
    return _planned(request, chosen) if chosen else None


def _size(pool: PoolType) -> tuple[int, int, int, str]:
    machine = pool.machine
    return machine.gpu_count, machine.vcpus or 0, machine.memory_mib or 0, machine.name


def _planned(request: SuggestRequest, by_name: Mapping[str, PoolType]) -> SmallestFleet | None:
    """Return the fleet with the number of nodes that its plan needs, or None if it doesn't fit."""
    most = cloud(request.cloud).nodes_of_a_pool[-1]
    plan = _plan(request, [(pool, most) for pool in by_name.values()], steps=0)
    if plan.running != "fits":
        return None
    counts = {pool.name: min(2 * pool.packing + ROOM, most) for pool in plan.pools}
    plan = _plan(request, [(by_name[name], nodes) for name, nodes in counts.items()])
    if plan.running != "fits":
        return None
    nodes = {pool.name: pool.recommended for pool in plan.pools if pool.recommended}
    return SmallestFleet(
        document=fleet_document(request, [(by_name[name], most) for name, most in nodes.items()]),
        plan=plan,
        gpus=sum(by_name[name].machine.gpu_count * count for name, count in nodes.items()),
    )


def _plan(
    request: SuggestRequest, pools: list[tuple[PoolType, int]], steps: int | None = None
) -> Plan:
    plan_request = PlanRequest(
        sources=request.sources,
        fleet=read_fleet(fleet_document(request, pools)),
        level=request.level,
        with_fixes=False,
        compares_placements=False,
    )
    return make_plan(plan_request if steps is None else replace(plan_request, steps=steps))
