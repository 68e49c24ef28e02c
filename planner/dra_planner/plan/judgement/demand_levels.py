"""Levels of demand other than the evaluated one: whether the pods of scalers and rollouts
also fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.errors import NOWHERE, Diagnostic
from dra_planner.model import DemandLevel, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.sizing import WorkloadSize
from dra_planner.wording import counted

LEVELS_BESIDE: Final[tuple[DemandLevel, ...]] = ("ceiling", "peak")
_WHEN: Final = {"ceiling": "at its ceiling", "peak": "during a rollout, at its peak"}


def find_levels_beside(judgement: Judgement) -> Iterator[Diagnostic]:
    """Yield a finding for each workload with a worse verdict at ceiling or peak than at the
    evaluated level.

    It's a warning for *does not fit* and a note for *cannot tell*. Peak is only reported without a
    finding at ceiling. The plan's verdict doesn't depend on them.
    """
    judged = {size.workload: size for size in judgement.sizing.workloads}
    told: set[WorkloadRef] = set()
    for level in LEVELS_BESIDE:
        sizing = judgement.sizings.get(level)
        if sizing is None or level == judgement.level:
            continue  # nodes of a snapshot are judged for steady demand alone
        for size in sizing.workloads:
            before = judged.get(size.workload)
            if (
                size.workload in told
                or before is None
                or before.verdict != "fits"
                or size.verdict == "fits"
            ):
                continue
            told.add(size.workload)
            yield _finding(size, level, judgement)


def _finding(size: WorkloadSize, level: DemandLevel, judgement: Judgement) -> Diagnostic:
    places = {
        member.workload: member.place
        for shape in judgement.demand.shapes
        for member in shape.members
    }
    does_not_fit = size.verdict == "does-not-fit"
    reason = size.reasons[0] if size.reasons else None
    verdict = "does not fit" if does_not_fit else "can't be evaluated"
    pods = "" if size.wanted is None else f" of {counted(size.wanted, 'pod')}"
    because = f": {reason.message}" if reason is not None else ""
    return Diagnostic(
        severity="warning" if does_not_fit else "note",
        code=f"{level}-{'does-not-fit' if does_not_fit else 'cannot-tell'}",
        message=f"{size.workload} {verdict} {_WHEN[level]}{pods}{because}",
        place=places.get(size.workload, NOWHERE),
        fix=reason.fix if reason is not None else "",
    )
