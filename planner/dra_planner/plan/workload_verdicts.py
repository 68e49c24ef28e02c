"""The verdicts of each workload at every level of demand."""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.allocation.reasons.selector_changes import is_conditional
from dra_planner.model import DEMAND_LEVELS, DemandLevel, Figures, Reason, Verdict, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import PlannedWorkload
from dra_planner.plan.suggestion.missing.missing_pools import missing_pool
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
            reasons=_in_order(size.reasons, _missing(judgement, size)),
        )
        for ref, size in sorted(answers[judgement.level].items())
    )


def _in_order(reasons: tuple[Reason, ...], missing: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Return fixes in order, starting with fixes that satisfy the whole request."""
    if not missing:
        return reasons
    gives_up = any(is_conditional(reason.fix) for reason in reasons)
    return (*missing, *reasons) if gives_up else (*reasons, *missing)


def _missing(judgement: Judgement, size: WorkloadSize) -> tuple[Reason, ...]:
    """Return the fleet change for pods of the workload that fit no pool."""
    if size.verdict != "does-not-fit" or any(r.code == POOL_TOO_SMALL for r in size.reasons):
        return ()
    shapes = (
        s for s in judgement.demand.shapes if any(m.workload == size.workload for m in s.members)
    )
    told = (missing_pool(judgement, shape) for shape in shapes)
    return tuple(dict.fromkeys(reason for reason in told if reason is not None))


def _verdict(answers: _Answers, level: DemandLevel, ref: WorkloadRef) -> Verdict:
    size = answers.get(level, {}).get(ref)
    return "cannot-tell" if size is None else size.verdict
