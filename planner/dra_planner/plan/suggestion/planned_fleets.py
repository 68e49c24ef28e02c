"""Plan fleets that are given as nodes by pool, in the form in which users commit them.

The scheduler might need more nodes than the packing. So each fleet can have more nodes, and is
planned unchanged, with pods that use its cheaper pools first, and with guards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.offers import Offer
from dra_planner.plan.judgement.rollouts.stalled import rollout_maximums
from dra_planner.plan.model import SIMULATED_STEPS, Plan, PlanRequest
from dra_planner.plan.planning import make_plan
from dra_planner.plan.suggestion.fleet_documents import NONE_LAST, bought_document
from dra_planner.plan.suggestion.fleets_by_price import order_by_price
from dra_planner.plan.suggestion.suggestions import PoolType, Suggestion, SuggestRequest

# more than twice the packing's nodes, so that the simulation can find the count that the scheduler
# needs
ROOM = 4
MANY_STEPS = 5 * SIMULATED_STEPS
"""Steps for a second try with very many pods or conflicting nodes, if the first doesn't find a
fleet.
"""


def plan_request(request: SuggestRequest, fleet: Fleet, steps: int = 0) -> PlanRequest:
    return PlanRequest(
        sources=request.sources,
        fleet=fleet,
        level=request.level,
        steps=steps,
        with_fixes=False,
        compares_placements=False,
    )


def confirmed_fleet(
    request: SuggestRequest,
    candidates: Sequence[PoolType],
    counts: dict[str, int],
    steps: int = SIMULATED_STEPS,
) -> Suggestion | None:
    """Return the fleet with its plan, or None if it doesn't fit.

    The scheduler might need more nodes than the packing, so the plan can add nodes. The result is
    the cheapest of three variants: the unchanged fleet, the fleet with pods that prefer its cheaper
    pools, and the fleet with its most expensive pool used last.
    """
    roomy = _with_room(request, counts)
    best: Suggestion | None = None
    ways: list[Mapping[str, int]] = [NONE_LAST]
    for last in ways:
        plan = make_plan(
            plan_request(
                request, read_fleet(bought_document(request, candidates, roomy, last)), steps
            )
        )
        if last is NONE_LAST:
            ways += _orders(plan.offers)
        found = None
        if plan.running == "fits":
            nodes = {pool.name: pool.recommended for pool in plan.pools if pool.recommended}
            found = planned_fleet(request, candidates, nodes, last, steps)
        if found is not None and (best is None or found.hourly_usd < best.hourly_usd):
            best = found
        if best is not None and best.hourly_usd == plan.judgement.sizing.hourly_plan:
            break
    return best or _guided(request, candidates, counts, steps)


def guided_fleet(
    request: SuggestRequest, candidates: Sequence[PoolType], counts: Mapping[str, int]
) -> Suggestion | None:
    """Return the fleet with the required guards and the resulting number of nodes, or None."""
    document = guided_document(request, candidates, counts)
    return _suggestion(request, document, SIMULATED_STEPS) or _suggestion(
        request, document, MANY_STEPS
    )


def guided_document(
    request: SuggestRequest, candidates: Sequence[PoolType], counts: Mapping[str, int]
) -> dict[str, Any]:
    """Return a fleet of these nodes that allows more nodes, and whose plan adds guards."""
    roomy = _with_room(request, counts)
    return {**bought_document(request, candidates, roomy), "placement": "guided"}


def _with_room(request: SuggestRequest, counts: Mapping[str, int]) -> dict[str, int]:
    most = cloud(request.cloud).nodes_of_a_pool[-1]
    return {name: min(2 * nodes + ROOM, most) for name, nodes in counts.items()}


def _guided(
    request: SuggestRequest, candidates: Sequence[PoolType], counts: Mapping[str, int], steps: int
) -> Suggestion | None:
    """Return the fleet with guards, or None if its plan doesn't fit or needs no guards."""
    found = _suggestion(request, guided_document(request, candidates, counts), steps)
    return None if found is None or found.plan.guarded is None else found


def _orders(offers: Sequence[Offer]) -> list[dict[str, int]]:
    """Return the possible pool preferences of pods, as the number of taints of each pool."""
    if len(offers) < 2:
        return []
    by_price = order_by_price(offers)
    dearest = max(by_price, key=lambda name: by_price[name])
    return [by_price, {dearest: 1}] if len(offers) > 2 else [by_price]


def planned_fleet(
    request: SuggestRequest,
    candidates: Sequence[PoolType],
    nodes: Mapping[str, int],
    last: Mapping[str, int],
    steps: int = SIMULATED_STEPS,
) -> Suggestion | None:
    """Return the fleet with this number of nodes and its plan, or None if it doesn't fit."""
    return _suggestion(request, bought_document(request, candidates, nodes, last), steps)


def raised_for_rollouts(plan: Plan, pools: Collection[str]) -> dict[str, int]:
    """Return the higher maximums of these pools that rollouts need, or nothing if they finish."""
    if not plan.stalled:
        return {}
    judgement = plan.judgement if plan.guarded is None else plan.guarded.free
    return {name: most for name, most in rollout_maximums(judgement).items() if name in pools}


def with_rollouts(request: SuggestRequest, found: Suggestion) -> Suggestion:
    """Return the fleet with maximums at which rollouts finish, or the given fleet if its plan would
    change. Nodes that only rollouts need aren't part of the price.
    """
    raised = raised_for_rollouts(found.plan, [pool["name"] for pool in found.document["pools"]])
    if not raised:
        return found
    pools = [
        {**pool, "count": {**pool["count"], "max": raised.get(pool["name"], pool["count"]["max"])}}
        for pool in found.document["pools"]
    ]
    roomy = _suggestion(request, {**found.document, "pools": pools}, SIMULATED_STEPS)
    return found if roomy is None or roomy.hourly_usd > found.hourly_usd else roomy


def _suggestion(request: SuggestRequest, document: dict[str, Any], steps: int) -> Suggestion | None:
    """Return the fleet of a document with its plan, or None if it doesn't fit."""
    fleet = read_fleet(document)
    plan = make_plan(plan_request(request, fleet, steps))
    if plan.running != "fits" or plan.cost is None:
        return None
    return Suggestion(fleet=fleet, document=document, plan=plan, hourly_usd=plan.cost.hourly_usd)
