"""The sentences about rollouts: which rollouts never finish, and why the others finish."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests.workloads.updates import unknown_updates
from dra_planner.model import Member, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.stalled import ROLLOUT_STEPS, RolloutCheck, StalledRollout
from dra_planner.plan.judgement.rollouts.updates import Update
from dra_planner.wording import counted, listed

ROLLOUT_CANNOT_FINISH: Final = "rollout-cannot-finish"
"""The code of the finding about a rollout that never finishes."""
ROLLOUTS_NOT_CHECKED: Final = "rollouts-not-checked"
"""The code of the finding about rollouts for which the steps weren't sufficient."""
ROLLOUT_NEEDS_UPGRADE: Final = "rollout-needs-upgrade"
"""The code of the finding about a rollout that never finishes with older controllers."""
MOST_NAMES: Final = 3


def _stall_findings(stalled: Iterable[StalledRollout]) -> Iterator[Diagnostic]:
    """Yield an error for each cause of rollouts that never finish. Its subjects are the workloads,
    separated by commas. Their verdicts don't change, because their pods run.
    """
    causes: dict[tuple[str | int, ...], list[StalledRollout]] = {}
    for each in stalled:
        causes.setdefault(each.cause, []).append(each)
    for first, *others in causes.values():
        # more nodes don't help older controllers
        more = "" if first.start.old_controllers else first.reason.fix
        parts = (more, first.start.fix)
        names = [str(each.workload) for each in others]
        listing = _named(names)
        yield Diagnostic(
            severity="error",
            code=ROLLOUT_CANNOT_FINISH,
            message=f"{first.workload} can run, but its rollouts never finish. "
            f"{_sentence(first.start.cause)}, but {first.reason.message}"
            f"{f'. The same applies to {listing}' if listing else ''}",
            place=first.place,
            fix=", or ".join(filter(None, parts)),
            subject=", ".join((str(first.workload), *names)),
        )


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def rollout_findings(
    stalled: Iterable[StalledRollout], by_version: Iterable[Update]
) -> Iterator[Diagnostic]:
    """Yield the errors about stalled rollouts, and a warning for each other rollout that never
    finishes with older controllers.
    """
    stalled = tuple(stalled)
    yield from _stall_findings(stalled)
    names = {each.workload for each in stalled}
    yield from map(_version_finding, (each for each in by_version if each.workload not in names))


def _version_finding(update: Update) -> Diagnostic:
    start = update.start
    return Diagnostic(
        severity="warning",
        code=ROLLOUT_NEEDS_UPGRADE,
        message=f"{update.workload} can run, but its rollouts might never finish. "
        f"{_sentence(start.cause)}, but {start.old_controllers}",
        place=update.place,
        fix=f"{start.upgrade}, or {start.fix}",
        subject=str(update.workload),
    )


def rollout_assumptions(rollouts: RolloutCheck) -> tuple[str, ...]:
    """Return the assumptions about rollouts on a snapshot's nodes that weren't decided."""
    return tuple(f"{workload}: {unknown_updates(why)}" for workload, why in rollouts.unknown)


def _named(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = names[MOST_NAMES:]
    return listed([*names[:MOST_NAMES], *([f"{len(more)} more"] if more else [])])


def unchecked_findings(unchecked: Collection[WorkloadRef]) -> Iterator[Diagnostic]:
    """Yield a warning about the rollouts that weren't checked, because the steps ran out."""
    if not unchecked:
        return
    names = [str(each) for each in sorted(unchecked)]
    subject = (
        "the rollout of 1 workload isn't"
        if len(names) == 1
        else (f"the rollouts of {len(names)} workloads aren't")
    )
    yield Diagnostic(
        severity="warning",
        code=ROLLOUTS_NOT_CHECKED,
        message=f"{subject} checked, because the check of all rollouts reached its limit of "
        f"{ROLLOUT_STEPS} steps: {_named(names)}",
        fix="plan with --demand peak, which includes the additional pods of all rollouts",
        subject=", ".join(names),
    )


def why_it_finishes(
    judgement: Judgement, workload: WorkloadRef, doubtful: Collection[WorkloadRef]
) -> str:
    """Return why a workload's rollout finishes although not all of its additional pods fit at the
    same time, as a sentence, or "" if this is unknown. The rollouts of `doubtful` workloads never
    finish, or weren't checked.
    """
    members = [
        member
        for shape in judgement.demand.shapes
        for member in shape.members
        if member.workload == workload
    ]
    if workload in doubtful or not all(_is_at_declared(each, judgement) for each in members):
        return ""
    unavailable = [each.rollout.unavailable for each in members if each.rollout is not None]
    if len(unavailable) != len(members):
        return ""
    if all(unavailable):
        return (
            "The rollout finishes anyway, because it can delete pods first (maxUnavailable: "
            f"{counted(min(unavailable), 'pod')})"
        )
    return "The rollout finishes anyway, because 1 additional pod fits"


def _is_at_declared(member: Member, judgement: Judgement) -> bool:
    """Return whether a rollout starts with the declared pods, for which its limits are known."""
    figures = member.figures
    return figures.at(judgement.level) == figures.steady == figures.ceiling
