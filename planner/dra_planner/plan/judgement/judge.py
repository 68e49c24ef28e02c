"""Evaluate a demand on offered nodes. Plans, rules, and explanations all present this result.

    judgement = judge(demand, offers, classes, features)
    judgement.sizing                     counts per pool and verdicts of workloads, at its level
    judgement.answers(shape)             each pool's answer to a pod of that shape

Every level is sized once, when the judgement is created. Answers are computed once, on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dra_planner.fleet import Fleet
from dra_planner.model import Demand, DemandLevel, DeviceClass
from dra_planner.offers import Offer
from dra_planner.plan.judgement.gangs import start_gangs
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.observed_nodes import judge_nodes
from dra_planner.plan.judgement.redundancy import survive, what_survives
from dra_planner.plan.judgement.rollouts.stalled import rollout_maximums
from dra_planner.plan.judgement.simulated_counts import (
    NOTHING_PROVED,
    Simulated,
    replace_fixes,
    simulate_sizings,
)
from dra_planner.plan.judgement.simulated_fleet import SimulatedFleet
from dra_planner.plan.judgement.sized_demand import SizedDemand
from dra_planner.plan.judgement.system_pods import SystemPods, add_system, set_aside
from dra_planner.plan.suggestion.pool_fixes import with_pool_fixes
from dra_planner.releases import Features
from dra_planner.sizing import Sizer, Sizing

if TYPE_CHECKING:  # only simulations need this module
    from dra_planner.plan.judgement.lost_nodes import Survival
    from dra_planner.simulation import SimulatedCounts


def judge(
    demand: Demand,
    offers: tuple[Offer, ...],
    classes: Mapping[str, DeviceClass],
    features: Features,
    *,
    level: DemandLevel = "steady",
    fleet: Fleet | None = None,
    steps: int = 0,
    with_fixes: bool = True,
    proved: Mapping[DemandLevel, SimulatedCounts] = NOTHING_PROVED,
    sized: SizedDemand | None = None,
) -> Judgement:
    """Return the verdicts of a demand on these offers for `level`.

    Predicted offers are sized for every level of demand. Observed offers are existing nodes, on
    which declared demand is placed pod by pod. `fleet` describes the system pool for pods without
    devices, and possible purchases. `steps` limits the simulation of the sizes at that level. 0
    disables it. `with_fixes` is described in `PlanRequest`. Without it, pods of gangs are also
    counted one by one. `proved` are counts of levels that were already simulated, and `sized` are
    known sizes of this demand on these offers.
    """
    if any(offer.origin == "observed" for offer in offers):
        return judge_nodes(demand, offers, classes, features)
    if sized is None:
        sized = SizedDemand.of(demand, offers, classes, features, fleet)
    system = sized.system
    sizings = _with_gangs(sized, level) if demand.gangs and with_fixes else sized.sizings
    nodes = SimulatedFleet.of(fleet, offers, classes, features)
    answer = Simulated(sizings=sizings, found={})
    if steps:
        simulated = sized.on_gpus if nodes.system is None else demand
        answer = simulate_sizings(
            sizings, level, simulated, nodes, steps, with_fixes=with_fixes, proved=proved
        )
        sizings = answer.sizings
    survival: Survival | None = None
    if fleet is not None and fleet.redundancy.is_requested and sizings[level].verdict == "fits":
        first, counts = sizings[level], answer.found.get(level)
        spares, question = what_survives(fleet, first, counts, (demand, sized.on_gpus), nodes)
        first, survival = survive(first, spares, question, steps)
        sizings = _with_sizing(sizings, level, first)
    judgement = Judgement(
        demand=demand,
        offers=offers,
        classes=classes,
        features=features,
        level=level,
        sizings=sizings,
        simulations=answer.found,
        fixes=answer.fixes,
        tried_all_fixes=answer.tried_all_fixes,
        survival=survival,
        on_system=frozenset(shape.id for shape in sized.elsewhere.shapes),
        system_offer=system.offer if system is not None else None,
        assumptions=system.assumptions if system is not None else (),
        fleet=fleet,
        sized=sized,
    )
    return with_pool_fixes(_with_room_for_rollouts(judgement)) if with_fixes else judgement


def _with_room_for_rollouts(judgement: Judgement) -> Judgement:
    """Return the judgement whose fixes also raise the maximums that rollouts need."""
    if not judgement.fixes or judgement.sizing.verdict == "fits":
        return judgement
    most = rollout_maximums(judgement)
    if not most:
        return judgement
    return replace_fixes(judgement, tuple(replace(fix, rollouts=most) for fix in judgement.fixes))


def _with_gangs(sized: SizedDemand, level: DemandLevel) -> Mapping[DemandLevel, Sizing]:
    """Return the sizings in which a gang starts completely or not at all."""

    def size(part: Demand) -> Sizing:
        return _size_part(part, level, sized.sizer, sized.system)

    whole = start_gangs(sized.demand, sized.sizings[level], size, len(sized.sizer.offers))
    return _with_sizing(sized.sizings, level, whole)


def _with_sizing(
    sizings: Mapping[DemandLevel, Sizing], level: DemandLevel, sizing: Sizing
) -> Mapping[DemandLevel, Sizing]:
    """Return the sizings with another one for a level, and for levels with the same demand."""
    first = sizings[level]
    return {each: sizing if known is first else known for each, known in sizings.items()}


def _size_part(
    demand: Demand, level: DemandLevel, sizer: Sizer, system: SystemPods | None
) -> Sizing:
    """Size fewer pods of the same shapes."""
    on_gpus, elsewhere = set_aside(demand, sizer.offers)
    sizing = replace(sizer, demand=on_gpus, with_raises=False).size(level)
    return (
        sizing if system is None else add_system(sizing, system.with_demand(elsewhere).size(level))
    )
