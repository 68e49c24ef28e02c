"""Check whether the pods of scalers and rollouts also fit, at levels of demand other than the
planned one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.errors import NOWHERE, Diagnostic, Place
from dra_planner.fleet import Fleet
from dra_planner.model import DEMAND_LEVELS, Demand, DemandLevel, Figures, Member, WorkloadRef
from dra_planner.offers import Offer
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.daemons import find_stalled_daemons
from dra_planner.plan.judgement.rollouts.findings import (
    rollout_findings,
    unchecked_findings,
    why_it_finishes,
)
from dra_planner.plan.judgement.rollouts.stalled import check_rollouts
from dra_planner.plan.judgement.system_pods import set_aside
from dra_planner.sizing import Sizer, Sizing, WorkloadSize
from dra_planner.wording import counted, verb

LEVELS_BESIDE: Final[tuple[DemandLevel, ...]] = ("ceiling", "peak")
_WHEN: Final = {"ceiling": "at its maximum", "peak": "during a rollout"}
_WHEN_OTHERS: Final = {
    "ceiling": "while other workloads are at their maximum",
    "peak": "during a rollout of other workloads",
}
"""The texts for workloads that don't add pods."""


def find_beside(
    judgement: Judgement, fleet: Fleet, built: Mapping[str, int], *, free: Judgement | None = None
) -> tuple[Diagnostic, ...]:
    """Return the findings about other levels of demand.

    `built` contains the node counts of the plan. `free` is the judgement without the plan's guards,
    if it has guards.
    """
    return (
        *find_levels_beside(judgement, free),
        *find_levels_without_nodes(judgement, fleet, built),
    )


def find_levels_beside(judgement: Judgement, free: Judgement | None = None) -> Iterator[Diagnostic]:
    """Yield an error for each rollout that never finishes, and a finding for each workload with a
    worse verdict at ceiling or peak than at the evaluated level.

    The findings don't affect the plan's verdict. A rollout that finishes without guards (`free`)
    isn't an error, because a plan for another demand has other guards.
    """
    rollouts = check_rollouts(judgement)
    certain, unchecked = rollouts.names, rollouts.unchecked
    if free is not None:
        without = check_rollouts(free)
        unchecked = (*unchecked, *(certain & {*without.unchecked}))
        certain &= without.names
    stalled = (each for each in rollouts.stalled if each.workload in certain)
    yield from rollout_findings(stalled, rollouts.by_version)
    yield from unchecked_findings(unchecked)
    yield from find_stalled_daemons(judgement)
    doubtful = rollouts.names.union(unchecked)
    yield from _worse_levels(judgement, free, doubtful=doubtful, reported=certain)


def _worse_levels(
    judgement: Judgement,
    free: Judgement | None,
    *,
    doubtful: Collection[WorkloadRef],
    reported: Collection[WorkloadRef],
) -> Iterator[Diagnostic]:
    """Yield a warning for each workload that doesn't fit at ceiling or peak, and a note if it can't
    be evaluated, or if its rollout finishes anyway.

    Peak is reported only if there is no finding at ceiling, and if the rollout isn't `reported`. If
    the workload fits without guards (`free`), the fix isn't more nodes, but the guards of a plan
    for that level. With the guards, `doubtful` rollouts don't finish, or they
    weren't checked.
    """
    judged = {size.workload: size for size in judgement.sizing.workloads}
    known: set[WorkloadRef] = set()
    for level in LEVELS_BESIDE:
        sizing = judgement.sizings.get(level)
        if sizing is None or level == judgement.level:
            continue  # nodes of a snapshot are evaluated only for steady demand
        if level == "peak":
            known.update(reported)
        for size in sizing.workloads:
            before = judged.get(size.workload)
            if (
                size.workload in known
                or before is None
                or before.verdict != "fits"
                or size.verdict == "fits"
            ):
                continue
            known.add(size.workload)
            found = _finding(size, level, judgement, adds_pods=size.wanted != before.wanted)
            anyway = why_it_finishes(judgement, size.workload, doubtful) if level == "peak" else ""
            if anyway:
                found = replace(found, severity="note", message=f"{found.message}. {anyway}")
            sizing_without = free.sizings.get(level) if free is not None else None
            if sizing_without and _verdict(sizing_without, size.workload) == "fits":
                found = replace(
                    found,
                    message=f"{found.message}. This plan's guards are for {judgement.level} "
                    "demand, and the workload fits without them",
                    fix=f"plan with --demand {level}, which chooses guards for this demand",
                )
            yield found


def find_levels_without_nodes(
    judgement: Judgement, fleet: Fleet, built: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Yield a finding for the first level at which pods stay pending on the `built` nodes.

    This happens although the maximums are large enough, because nothing increases the fleet's node
    counts.
    """
    if fleet.is_autoscaled or judgement.sizing.verdict != "fits":
        return
    on_gpus, _ = set_aside(judgement.demand, judgement.offers)
    offers = [_built_offer(offer, fleet, built) for offer in judgement.offers]
    for level in _levels_above(judgement):
        sizing = judgement.sizings[level]
        if sizing is judgement.sizing:
            continue
        growing = _growing(judgement, level)
        if not growing:
            continue
        grown = _only_growing(on_gpus, growing, level, judgement.level)
        sizer = Sizer.of(grown, offers, judgement.classes, judgement.features)
        pending = sum(
            size.pending
            for size in replace(sizer, with_raises=False).size(level).workloads
            if size.verdict == "does-not-fit" and _verdict(sizing, size.workload) == "fits"
        )
        if pending:
            yield _without_nodes(pending, growing, level, judgement, fleet)
            return


def _levels_above(judgement: Judgement) -> tuple[DemandLevel, ...]:
    position = DEMAND_LEVELS.index(judgement.level)
    return tuple(level for level in LEVELS_BESIDE if DEMAND_LEVELS.index(level) > position)


def _built_offer(offer: Offer, fleet: Fleet, built: Mapping[str, int]) -> Offer:
    if fleet.counts_change(offer.name):
        return offer
    nodes = built[offer.name]
    return replace(offer, count_min=min(offer.count_min, nodes), count_max=nodes)


def _verdict(sizing: Sizing, workload: WorkloadRef) -> str:
    return next((size.verdict for size in sizing.workloads if size.workload == workload), "")


def _growing(judgement: Judgement, level: DemandLevel) -> list[WorkloadRef]:
    """Return the workloads that need more pods at this level than at the evaluated level. A rollout
    that can first remove a pod doesn't need more.
    """
    return list(
        dict.fromkeys(
            member.workload
            for shape in judgement.demand.shapes
            for member in shape.members
            if (member.figures.at(level) or 0) > (member.figures.at(judgement.level) or 0)
            and (level == "ceiling" or member.rollout is None or not member.rollout.unavailable)
        )
    )


def _only_growing(
    demand: Demand, growing: Collection[WorkloadRef], level: DemandLevel, usual: DemandLevel
) -> Demand:
    """Return the demand in which only these workloads add pods at this level."""

    def figures(member: Member) -> Figures:
        if member.workload in growing:
            return member.figures
        own = member.figures
        return Figures(
            own.floor,
            own.steady,
            own.at(usual) if level == "ceiling" else own.ceiling,
            own.at(usual) if level == "peak" else own.peak,
        )

    shapes = tuple(
        replace(
            shape,
            members=tuple(replace(each, figures=figures(each)) for each in shape.members),
        )
        for shape in demand.shapes
    )
    return replace(demand, shapes=shapes)


def _without_nodes(
    pending: int,
    growing: list[WorkloadRef],
    level: DemandLevel,
    judgement: Judgement,
    fleet: Fleet,
) -> Diagnostic:
    """Return the finding about the workloads that add pods at a level. It's a note for several
    workloads, because they don't always add pods at the same time. It's also a note for a rollout
    of which some pods start, because the rollout can continue.
    """
    added = sum(
        (member.figures.at(level) or 0) - (member.figures.at(judgement.level) or 0)
        for shape in judgement.demand.shapes
        for member in shape.members
        if member.workload == growing[0]
    )
    is_stuck = level == "ceiling" or pending >= added
    stuck = " and the rollout never completes" if level == "peak" and is_stuck else ""
    more = counted(len(growing) - 1, "other workload")
    others = (
        f" and {more} add pods at the same time"
        if growing[1:]
        else " scales"
        if level == "ceiling"
        else " adds pods"
    )
    autoscaler = counting_autoscaler(fleet)
    because = (
        "the fleet doesn't set an autoscaler"
        if fleet.autoscaler == "none"
        else f"{fleet.autoscaler} doesn't add nodes"
    )
    when = "up to its maximum" if level == "ceiling" else "during a rollout"
    return Diagnostic(
        severity="note" if growing[1:] or not is_stuck else "warning",
        code=f"{level}-exceeds-nodes",
        message=f"if {growing[0]}{others} {when}, {counted(pending, 'pod')} "
        f"{verb(pending, 'stay')} pending{'' if growing[1:] else stuck}, because "
        f"{because}",
        place=_places(judgement).get(growing[0], NOWHERE),
        fix=f"plan with --demand {level}, or set autoscaler to {autoscaler} in the fleet"
        if level == "ceiling"
        else f"plan with --demand {level}, set autoscaler to {autoscaler} in the fleet, or set "
        "maxSurge to 0 and maxUnavailable to 1",
        subject=str(growing[0]),
    )


def counting_autoscaler(fleet: Fleet) -> str:
    """Return the autoscaler that changes the node counts of a fleet's pools. Others keep them."""
    place = cloud(fleet.cloud)
    keeps = {"none", *place.keep_counts}
    return next((name for name in place.autoscalers if name not in keeps), "cluster-autoscaler")


def _places(judgement: Judgement) -> dict[WorkloadRef, Place]:
    return {
        member.workload: member.place
        for shape in judgement.demand.shapes
        for member in shape.members
    }


def _finding(
    size: WorkloadSize, level: DemandLevel, judgement: Judgement, *, adds_pods: bool
) -> Diagnostic:
    does_not_fit = size.verdict == "does-not-fit"
    reason = size.reasons[0] if size.reasons else None
    verdict = "does not fit" if does_not_fit else "can't be evaluated"
    pods = "" if size.wanted is None else f" ({counted(size.wanted, 'pod')})"
    because = f": {reason.message}" if reason is not None else ""
    when = f"{_WHEN[level]}{pods}" if adds_pods else _WHEN_OTHERS[level]
    return Diagnostic(
        severity="warning" if does_not_fit else "note",
        code=f"{level}-{'does-not-fit' if does_not_fit else 'cannot-tell'}",
        message=f"{size.workload} {verdict} {when}{because}",
        place=_places(judgement).get(size.workload, NOWHERE),
        fix=reason.fix if reason is not None else "",
    )
