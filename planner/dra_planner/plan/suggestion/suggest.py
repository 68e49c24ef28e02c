"""Find the cheapest pools in one region that run workloads without a fleet, and compare them with
simpler fleets.

    candidates   every machine with NVIDIA GPUs that the region offers on demand at a known price,
                 one pool each, and with MIG configurations if pods need MIG devices
    any          the packing over all of them at once, and more expensive fleets by price until one
                 runs everything
    one, two     the best fleet of one machine type, and of two of the best machine types

Each fleet is tried as it is, and with pods that prefer its cheaper pools (PreferNoSchedule taints).
Before it's suggested, a fleet is planned again in its final form. If the scheduler doesn't follow
any of these plans, guards are added. If there are many kinds of pods, only a few fleets are
planned, with guards from the start: the best fleet of any machines, and simpler fleets that could
cost less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan.model import SIMULATED_STEPS, Plan
from dra_planner.plan.planning import make_plan
from dra_planner.plan.pools.architectures import selected_architectures
from dra_planner.plan.reading import read_checked
from dra_planner.plan.suggestion.buyable_machines import buyable_machines
from dra_planner.plan.suggestion.compared_fleets import (
    compared_fleets,
    fleet_of_any_machines,
    fleets_of_few_machines,
    needs_on_machines,
    sized,
)
from dra_planner.plan.suggestion.divided_devices import partitioned_pools, with_shared_devices
from dra_planner.plan.suggestion.fleet_documents import fleet_document
from dra_planner.plan.suggestion.fleets_by_price import cheapest_fleet_that_runs
from dra_planner.plan.suggestion.planned_fleets import (
    MANY_STEPS,
    confirmed_fleet,
    guided_document,
    guided_fleet,
    plan_request,
    planned_fleet,
    with_rollouts,
)
from dra_planner.plan.suggestion.suggestions import (
    NO_PRICE,
    PackedFleet,
    PoolType,
    PricesUnknownError,
    Suggestion,
    Suggestions,
    SuggestRequest,
    sized_shapes,
)
from dra_planner.plan.suggestion.system_machine import larger_system_machine, needed_system_nodes
from dra_planner.releases import features_of, parse_version
from dra_planner.wording import listed

MOST_SIZED = 600
"""Number of pod shapes times machine types up to which every machine type is sized separately, and
fleets are first tried without guards. For larger requests, only a few fleets are planned, with
guards.
"""
WIDE_GAP = Decimal("0.05")
"""If another fleet could save more than this share of the best fleet's price, the best fleet is
also planned with guards.
"""


def suggest_fleets(request: SuggestRequest) -> Suggestions:
    """Return the machine types to buy.

    Raises PlannerError for invalid input, or if no machine type can be bought or is needed, and
    PricesUnknownError if the region's prices are unknown.
    """
    request = checked_request(request)
    left_out: dict[str, str] = {}
    machines = [PoolType(machine) for machine in buyable_machines(request, left_out)]
    if not machines:
        raise _nothing_to_buy(request, left_out)
    candidates, plan = plan_on_all(request, machines)
    if plan.running != "fits" and (enlarged := _with_system_pool(request, plan)) != request:
        request = enlarged
        candidates, plan = plan_on_all(request, machines)
    if plan.running != "fits":
        return Suggestions(
            best=None,
            others=(),
            plan=plan,
            candidates=len(machines),
            left_out=tuple(sorted(left_out.items())),
        )
    if not any(pool.packing for pool in plan.pools):
        raise PlannerError(
            "these workloads don't need GPU machine types, so they don't need a fleet"
        )
    known = sized(plan, plan.offers)
    packed: list[PackedFleet] = []
    if len(sized_shapes(plan)) * len(candidates) > MOST_SIZED:
        found, packed = _found_with_guards(request, candidates, plan)
    else:
        found = _found(request, candidates, plan)
    found.sort(key=lambda each: (each.hourly_usd, len(each.machines)))
    found = [
        each
        for at, each in enumerate(found)
        if all(each.document != other.document for other in found[:at])
    ]
    return Suggestions(
        best=with_rollouts(request, found[0]) if found else None,
        others=tuple(found[1:]),
        packed=tuple(sorted(packed, key=lambda each: (each.packing_usd, len(each.counts)))),
        plan=plan if found else replace(plan, placing="cannot-tell"),
        candidates=len(machines),
        left_out=tuple(sorted(left_out.items())),
        known_usd=known.hourly_bound,
    )


def _with_system_pool(request: SuggestRequest, plan: Plan) -> SuggestRequest:
    """Return the request with a system pool that is large enough for the pods on it."""
    fleet, judgement = plan.fleet, plan.judgement
    if fleet is None or not judgement.on_system:
        return request
    pods = [shape for shape in judgement.demand.shapes if shape.id in judgement.on_system]
    machine = larger_system_machine(fleet, pods, judgement) or fleet.system_pool.machine
    larger = read_fleet(
        {**fleet.document(), "systemPool": {"machine": machine, "count": fleet.system_pool.count}}
    )
    return replace(
        request,
        system_machine=machine if machine != fleet.system_pool.machine else request.system_machine,
        system_nodes=max(
            request.system_nodes, needed_system_nodes(larger, judgement, judgement.level)
        ),
    )


def checked_request(request: SuggestRequest) -> SuggestRequest:
    """Return the request with the architectures that its pods select, and with the settings that
    its claims need. Raises PlannerError for an invalid version, region, or manifest.
    """
    minor = parse_version(request.kubernetes)
    if fault := cloud(request.cloud).region_fault(request.region):
        raise PlannerError(fault.problem, fix=fault.fix)
    catalog.check_listed_region(request.cloud, request.region)
    selected = selected_architectures(read_checked(request.sources, features_of(minor)))
    return with_shared_devices(replace(request, architectures=request.architectures | selected))


def _nothing_to_buy(request: SuggestRequest, left_out: Mapping[str, str]) -> PlannerError:
    left_out_reasons = dict.fromkeys(left_out.values())
    if NO_PRICE in left_out_reasons and request.max_price is None:
        named = [catalog.machine(request.cloud, name) for name in request.machines]
        regions = catalog.priced_regions(named or catalog.machines(request.cloud))
        priced = f"one of these regions: {', '.join(regions)}" if regions else "other machine types"
        return PricesUnknownError(
            f"the on-demand prices of these machine types are unknown in {request.region}"
            if named
            else f"the on-demand prices of GPU machine types are unknown in {request.region}",
            fix=f"use {priced}. Otherwise, run `pulumi-dra init --region "
            f"{request.region}`, and set pricePerHour for each pool in the new fleet",
        )
    limits = [
        *(["--machines"] if request.machines else []),
        *(["--max-price"] if request.max_price is not None else []),
    ]
    within = f" within the limits of {listed(limits)}" if limits else ""
    reasons = f". Excluded types: {'; '.join(left_out_reasons)}" if left_out_reasons else ""
    also = f", or change {' or '.join(limits)}" if limits else ""
    return PlannerError(
        f"no GPU machine type is available on demand in {request.region}{within}{reasons}",
        fix=f"use another region{also}",
    )


def plan_on_all(
    request: SuggestRequest, machines: Sequence[PoolType]
) -> tuple[Sequence[PoolType], Plan]:
    """Return the unsimulated plan on one pool of each machine type, each as large as possible.

    Also returns these pools. If pods need MIG devices, pools with MIG configurations are added.
    """
    plan = _plan_on(request, machines)
    partitioned = partitioned_pools(
        machines, plan, lambda pool: fleet_document(request, [(pool, 1)])
    )
    if not partitioned:
        return machines, plan
    candidates = [*machines, *partitioned]
    return candidates, _plan_on(request, candidates)


def _plan_on(request: SuggestRequest, candidates: Sequence[PoolType]) -> Plan:
    most = cloud(request.cloud).nodes_of_a_pool[-1]
    document = fleet_document(request, [(pool, most) for pool in candidates])
    return make_plan(plan_request(request, read_fleet(document)))


def _found_with_guards(
    request: SuggestRequest, candidates: Sequence[PoolType], plan: Plan
) -> tuple[list[Suggestion], list[PackedFleet]]:
    """Return the best fleet of any machine types, with guards, and simpler fleets.

    Simpler fleets are planned only if they could cost less than the best fleet so far.
    """
    needs = needs_on_machines(plan)
    planned = [guided_fleet(request, candidates, fleet_of_any_machines(plan, needs))]
    packed: list[PackedFleet] = []
    for counts, sizing in fleets_of_few_machines(plan, needs):
        bound, packing = sizing.hourly_bound, sizing.hourly_plan
        best = min((each.hourly_usd for each in planned if each is not None), default=None)
        if best is None or bound is None or packing is None or bound < best:
            planned.append(guided_fleet(request, candidates, counts))
            continue
        packed.append(
            PackedFleet(
                document=guided_document(request, candidates, counts),
                counts=_by_machine(request, candidates, counts),
                packing_usd=packing,
                bound_usd=bound,
            )
        )
    return [each for each in planned if each is not None], packed


def _by_machine(
    request: SuggestRequest, candidates: Sequence[PoolType], counts: Mapping[str, int]
) -> tuple[tuple[str, str, int], ...]:
    """Convert nodes by pool to nodes by machine type and MIG configuration."""
    where = cloud(request.cloud)
    return tuple(
        (pool.machine.name, pool.mig, nodes)
        for pool in candidates
        if (nodes := counts.get(pool.name(where), 0))
    )


def _found(request: SuggestRequest, candidates: Sequence[PoolType], plan: Plan) -> list[Suggestion]:
    """Return the fleets to compare. If the usual simulation finds none, try a longer one."""
    fleets = list(compared_fleets(plan))
    found = [
        each
        for counts in fleets
        if (each := confirmed_fleet(request, candidates, counts)) is not None
    ]
    best = min(found, key=lambda each: each.hourly_usd, default=None)
    bound = plan.judgement.sizing.hourly_bound or Decimal(0)
    if best is None or (best.hourly_usd > bound and best.plan.guarded is None):
        searched = cheapest_fleet_that_runs(
            plan, None if best is None else best.hourly_usd, SIMULATED_STEPS
        )
        if searched is not None:
            found += [
                each
                for each in [planned_fleet(request, candidates, searched.nodes, searched.last)]
                if each is not None
            ]
    if not found:
        found += [
            each
            for each in [confirmed_fleet(request, candidates, fleets[0], MANY_STEPS)]
            if each is not None
        ]
    best = min(found, key=lambda each: each.hourly_usd, default=None)
    if best is not None and best.hourly_usd * (1 - WIDE_GAP) > bound:
        guided = guided_fleet(request, candidates, fleets[0])
        found += [guided] if guided is not None and guided.hourly_usd < best.hourly_usd else []
    return found
