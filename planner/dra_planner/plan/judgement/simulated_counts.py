"""The third node count: the number of nodes with which the default scheduler places all pods in
every simulated pod arrival order.

A possible packing doesn't guarantee a working cluster. *Fits* refers to the simulated counts. If a
packing is within the maximum but the simulation leaves pods pending, the verdict is *cannot tell*.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import (
    DEMAND_LEVELS,
    Demand,
    DemandLevel,
    Reason,
    WorkloadRef,
    worst,
)
from dra_planner.plan.judgement.demand_levels import LEVELS_BESIDE
from dra_planner.plan.judgement.simulated_fixes import fix_result, fix_sentence
from dra_planner.plan.judgement.simulated_fleet import SimulatedFleet
from dra_planner.simulation import (
    FIX_KINDS,
    CountQuestion,
    Opened,
    SimulatedCounts,
    Stranding,
    find_fixes,
    simulate_counts,
)
from dra_planner.sizing import Sizing, WorkloadSize, node_costs
from dra_planner.sizing.topology import RULE_BETWEEN_PODS
from dra_planner.wording import counted

if TYPE_CHECKING:
    from dra_planner.offers import Offer
    from dra_planner.plan.judgement.judgement import Judgement
    from dra_planner.simulation import Fix

NOTHING_PROVED: Final[Mapping[DemandLevel, SimulatedCounts]] = MappingProxyType({})
# verdicts that the simulation can determine, but sizing can't
LEAVES_PODS: Final = "simulation-leaves-pods"
"""The code of the simulation's reason."""
_LEFT_TO_SIMULATION: Final = frozenset({RULE_BETWEEN_PODS, LEAVES_PODS})


class Simulated(Struct, frozen=True, kw_only=True):
    """The simulation's result: verdicts at every level, results at the simulated levels, and fixes
    for the evaluated level. `tried_all_fixes` is set if the steps were sufficient.
    """

    sizings: Mapping[DemandLevel, Sizing]
    found: Mapping[DemandLevel, SimulatedCounts]
    fixes: tuple[Fix, ...] = ()
    tried_all_fixes: bool = True


def simulate_sizings(
    sizings: Mapping[DemandLevel, Sizing],
    level: DemandLevel,
    demand: Demand,
    nodes: SimulatedFleet,
    steps: int,
    *,
    with_fixes: bool = True,
    proved: Mapping[DemandLevel, SimulatedCounts] = NOTHING_PROVED,
) -> Simulated:
    """Return the sizings with the simulation's verdicts, and its results.

    Only levels that the packing places are simulated: the evaluated one, ceiling, and peak.
    Workloads whose pods fit no pool are excluded, because they are pending with any counts.
    `demand` contains the pods for `nodes`. `proved` contains known results of levels. `steps`
    limits the evaluated level. Ceiling and peak, if they differ, get the remaining steps, at least
    a sixth each.
    """
    sizing, left = sizings[level], steps
    known: dict[int, SimulatedCounts] = {}
    fixes: tuple[Fix, ...] = ()
    tried_all = True
    answers: dict[int, Sizing] = {}
    question: CountQuestion | None = None
    opened = Opened()
    fitting, left_out = without_misfits(sizing, demand)
    if is_placed(sizing, fitting, level):
        question = nodes.question(sizing, fitting)
        found = proved.get(level) or simulate_counts(question, steps * 2 // 3, opened=opened)
        found = replace(found, left_out=left_out)
        left = max(0, steps - found.spent)
        if found.at_packing and with_fixes:
            fixes, left = find_fixes(question, found, _placements(sizing), left, steps * 2 // 3)
            tried_all = left > 0
        known[id(sizing)] = found
        answers[id(sizing)] = _answered(sizing, found, fix_text(fixes, found, nodes.offers))
    for beside in LEVELS_BESIDE:
        other = sizings[beside]
        fitting, _ = without_misfits(other, demand)
        if id(other) not in answers and other is not sizing and is_placed(other, fitting, beside):
            other_question = nodes.question(other, fitting)
            known_nodes: Opened | None = None
            if question is not None and question.demand is fitting:
                other_question, known_nodes = (
                    replace(other_question, beside=question.beside),
                    opened,
                )
            counts = (
                proved[beside]
                if beside in proved
                else simulate_counts(other_question, max(left // 2, steps // 6), opened=known_nodes)
            )
            known[id(other)], answers[id(other)] = counts, _answered(other, counts, "")
    simulated = {each: known[id(size)] for each, size in sizings.items() if id(size) in known}
    answered = {each: answers.get(id(size), size) for each, size in sizings.items()}
    doubted = _with_doubts_of_lower_levels(answered, simulated)
    return Simulated(sizings=doubted, found=simulated, fixes=fixes, tried_all_fixes=tried_all)


def without_misfits(sizing: Sizing, demand: Demand) -> tuple[Demand, tuple[WorkloadRef, ...]]:
    """Return the demand without workloads that fit no pool's node, and these workloads, sorted."""
    misfits = {
        size.workload
        for size in sizing.workloads
        if size.verdict == "does-not-fit" and not size.placed and size.fits and _fits_nowhere(size)
    }
    if not misfits:
        return demand, ()
    shapes = []
    for shape in demand.shapes:
        members = tuple(member for member in shape.members if member.workload not in misfits)
        if members:
            shapes.append(replace(shape, members=members))
    return replace(demand, shapes=tuple(shapes)), tuple(sorted(misfits))


def _fits_nowhere(size: WorkloadSize) -> bool:
    return all(verdict == "does-not-fit" for _, verdict in size.fits)


def with_further_fix(judgement: Judgement, fix: Fix) -> Judgement:
    """Return a judgement with one more fix. Workloads' reasons name the cheapest fix."""
    prices = {
        offer.name: cost
        for offer, cost in zip(judgement.offers, node_costs(judgement.offers), strict=True)
    }

    def cost(each: Fix) -> tuple[int, ...]:
        costs = [
            tuple(count * part for part in prices[pool]) for pool, count in each.counts.items()
        ]
        return (*map(sum, zip(*costs, strict=True)), FIX_KINDS.index(each.kind))

    return replace_fixes(judgement, tuple(sorted((*judgement.fixes, fix), key=cost)))


def replace_fixes(judgement: Judgement, fixes: tuple[Fix, ...]) -> Judgement:
    """Return a judgement with other fixes, cheapest first. Workloads' reasons name the first."""
    found = judgement.simulated
    assert found is not None  # only simulated results have fixes
    text = fix_text(fixes, found, judgement.offers)
    judged = judgement.sizing
    workloads = tuple(
        replace(
            size,
            reasons=tuple(
                replace(reason, fix=text) if reason.code == LEAVES_PODS else reason
                for reason in size.reasons
            ),
        )
        for size in judged.workloads
    )
    sizings = {
        level: replace(sizing, workloads=workloads) if sizing is judged else sizing
        for level, sizing in judgement.sizings.items()
    }
    return replace(judgement, fixes=fixes, sizings=sizings)


def fix_text(fixes: tuple[Fix, ...], found: SimulatedCounts, offers: tuple[Offer, ...]) -> str:
    """Return the cheapest fix with its simulated result, or "" if there is none."""
    if not fixes:
        return ""
    other = " other" if found.left_out else ""
    return (
        f"{fix_sentence(fixes[0], offers)}. In the simulation, all{other} pods then fit on "
        f"{fix_result(fixes[0], offers)}, in every pod arrival order"
    )


def _answered(sizing: Sizing, found: SimulatedCounts, fix: str) -> Sizing:
    workloads = tuple(_answer(size, found, fix) for size in sizing.workloads)
    return replace(sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads))


def is_placed(sizing: Sizing, demand: Demand, level: DemandLevel) -> bool:
    """Return whether the packing places every pod in the demand, so that only the result of the
    simulation is unknown.
    """
    wanted: dict[WorkloadRef, int] = {}
    for shape in demand.shapes:
        for member in shape.members:
            pods = member.figures.at(level)
            if pods is None:
                return False
            wanted[member.workload] = wanted.get(member.workload, 0) + (
                0 if shape.per_node else pods
            )
    sizes = {size.workload: size for size in sizing.workloads}
    return bool(wanted) and all(
        sizes[ref].placed >= pods
        and all(reason.code in _LEFT_TO_SIMULATION for reason in sizes[ref].reasons)
        for ref, pods in wanted.items()
    )


def _answer(size: WorkloadSize, found: SimulatedCounts, fix: str) -> WorkloadSize:
    """Return the answer for a workload after the simulation."""
    kept = tuple(reason for reason in size.reasons if reason.code != RULE_BETWEEN_PODS)
    strandings = found.at_maximum or found.at_packing
    mine = [each for each in strandings if size.workload in each.pending]
    if found.counts is not None or (found.at_maximum and not mine):
        if len(kept) == len(size.reasons):
            return size
        return replace(size, verdict="fits" if not kept else size.verdict, reasons=kept)
    if not mine:
        return size
    reason = stranded(size.workload, mine, found, fix, is_packed=len(kept) == len(size.reasons))
    return replace(size, verdict=worst((size.verdict, "cannot-tell")), reasons=(*kept, reason))


def _with_doubts_of_lower_levels(
    sizings: Mapping[DemandLevel, Sizing], simulated: Container[DemandLevel]
) -> dict[DemandLevel, Sizing]:
    """Return the sizings. If the simulation leaves pods of a workload pending at a level, the
    workload doesn't fit for certain at higher levels that weren't simulated.
    """
    doubts: dict[WorkloadRef, Reason] = {}
    done: dict[int, Sizing] = {}
    for level in DEMAND_LEVELS:
        sizing = sizings[level]
        if doubts and level not in simulated and id(sizing) not in done:
            workloads = tuple(_doubted(size, doubts) for size in sizing.workloads)
            done[id(sizing)] = replace(
                sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads)
            )
        for size in sizing.workloads if level in simulated else ():
            for reason in size.reasons:
                if reason.code == LEAVES_PODS:
                    message = f"at {level} demand, {reason.message}"
                    doubts[size.workload] = replace(reason, message=message, fix="")
    return {level: done.get(id(sizing), sizing) for level, sizing in sizings.items()}


def _doubted(size: WorkloadSize, doubts: Mapping[WorkloadRef, Reason]) -> WorkloadSize:
    if size.verdict != "fits" or size.workload not in doubts:
        return size
    return replace(size, verdict="cannot-tell", reasons=(*size.reasons, doubts[size.workload]))


def _placements(sizing: Sizing) -> dict[str, set[str]]:
    """Return the pools of a shape's pods in the packing, by the shape's ID."""
    placed: dict[str, set[str]] = {}
    for pattern in sizing.patterns:
        for shape, _ in pattern.pods:
            placed.setdefault(shape, set()).add(pattern.pool)
    return placed


def stranded(
    ref: WorkloadRef,
    strandings: list[Stranding],
    found: SimulatedCounts,
    fix: str,
    *,
    is_packed: bool = True,
) -> Reason:
    """Return why a workload is uncertain (some arrival orders leave its pods pending), and a fix.

    `is_packed` is set if a packing places the pods and follows the rules between pods.
    """
    most = max(each.pending[ref] for each in strandings)
    pods = counted(most, "pod")
    orders = ", ".join(str(each.order) for each in strandings)
    is_every = len(strandings) == len(found.orders)
    which = (
        f"all {len(found.orders)} pod arrival orders"
        if is_every and len(found.orders) > 1
        else f"{len(strandings)} of {len(found.orders)} pod arrival orders ({orders})"
    )
    where = "with every pool at its maximum" if found.at_maximum else "on the nodes in the packing"
    return Reason(
        code=LEAVES_PODS,
        message=f"{'a packing exists, but ' if is_packed else ''}in {which}, the default scheduler "
        f"leaves up to {pods} pending (simulated {where})",
        fix=fix,
    )
