"""The verdicts of each workload at every level of demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra_planner.allocation.reasons.edits import REMOVING
from dra_planner.model import DEMAND_LEVELS, DemandLevel, Figures, Reason, Verdict, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import PlannedWorkload
from dra_planner.plan.suggestion.missing.missing_pools import missing_pool, without_idle_tolerations
from dra_planner.plan.suggestion.missing.nearest_pools import nearest_first, smallest_change
from dra_planner.sizing import POOL_TOO_SMALL, WorkloadSize

_Answers = Mapping[DemandLevel, Mapping[WorkloadRef, WorkloadSize]]


def plan_workloads(judgement: Judgement) -> tuple[PlannedWorkload, ...]:
    """Return every workload, sorted by kind, namespace, and name.

    Levels that weren't evaluated are *cannot tell*. A DaemonSet's figures are the numbers of its
    nodes in this plan.
    """
    demand = judgement.demand
    figures: dict[WorkloadRef, Figures] = {}
    for member in (
        *(member for shape in demand.shapes for member in shape.members),
        *(blocked.member for blocked in demand.blocked),
    ):
        figures[member.workload] = figures.get(member.workload, Figures.fixed(0)) + member.figures
    daemons = {
        member.workload for shape in demand.shapes if shape.per_node for member in shape.members
    }
    answers: _Answers = {
        level: {size.workload: size for size in sizing.workloads}
        for level, sizing in judgement.sizings.items()
    }
    return tuple(
        PlannedWorkload(
            workload=ref,
            figures=figures[ref]
            if ref in figures and ref not in daemons
            else Figures.fixed(size.wanted or 0),
            placed=size.placed,
            pending=size.pending,
            verdicts={level: _verdict(answers, level, ref) for level in DEMAND_LEVELS},
            placements=size.placements,
            fits=size.fits,
            reasons=_reasons(judgement, size),
        )
        for ref, size in sorted(answers[judgement.level].items())
    )


def _reasons(judgement: Judgement, size: WorkloadSize) -> tuple[Reason, ...]:
    """Return why pods are pending, with the fleet changes for pods that don't fit any pool. Fixes
    that satisfy the whole request come first.
    """
    if size.verdict != "does-not-fit" or any(r.code == POOL_TOO_SMALL for r in size.reasons):
        return size.reasons
    reasons = nearest_first(size.reasons, judgement, size.workload)
    gives_up = any(reason.is_conditional for reason in reasons)
    missing = dict[Reason, None]()
    for shape in judgement.demand.shapes:
        if any(member.workload == size.workload for member in shape.members):
            change = missing_pool(judgement, shape)
            missing |= {} if change is None else {change: None}
            if (change is not None and change.fix) or _has_other_fix(reasons):
                reasons = without_idle_tolerations(judgement, shape, reasons)
            edits = () if change is None else smallest_change(judgement.answers(shape))
            gives_up |= any(edit.kind in REMOVING for edit in edits)
    return (*missing, *reasons) if gives_up else (*reasons, *missing)


def _has_other_fix(reasons: Iterable[Reason]) -> bool:
    """Return whether another change than a toleration helps."""
    return any(each.fix and each.code != "missing-toleration" for each in reasons)


def _verdict(answers: _Answers, level: DemandLevel, ref: WorkloadRef) -> Verdict:
    size = answers.get(level, {}).get(ref)
    return "cannot-tell" if size is None else size.verdict
