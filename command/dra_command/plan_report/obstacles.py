"""The reasons why workloads of a plan don't fit, with their fixes, for all formats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_command.pens.verdict_words import VERDICT_AFTER_A_NAME
from dra_planner.model import Reason, Verdict, WorkloadRef
from dra_planner.plan import Plan
from dra_planner.plan.judgement.pod_set_reasons import pod_sets_by_reason
from dra_planner.plan.judgement.shared_cause import shared_cause
from dra_planner.plan.model import MISSING_POOL
from dra_planner.wording import counted

_MOST_REASONS: Final = 3
_FEWEST_ALIKE: Final = 3  # number of workloads with equal reasons that are listed together
_MOST_POOLS: Final = 5
_MOST_WORKLOADS: Final = 4


class Obstacle(Struct, frozen=True):
    """The reasons why something doesn't fit, and the fixes."""

    subject: str
    verdict: Verdict
    state: str  # the number of pending pods, or the verdict
    lines: tuple[tuple[str, str], ...]  # the reason, and its fix
    # for selectors: the current text, and the replacement
    changes: tuple[tuple[str, str], ...] = ()
    changed_for: str = ""  # the pool for which the changes are, if others need different changes
    pending: int = 0
    pods: int = 0


def obstacles(plan: Plan, *, every: bool = False) -> Iterator[Obstacle]:
    """Yield the reasons why workloads can't run. Unless `every` is set, yield only a few reasons
    for each workload, and workloads with equal reasons together. Their common fix isn't repeated,
    because reports print the plan's joint fix below them.
    """
    repeated = "" if plan.joint_fix is None else plan.joint_fix.repeated
    cause = shared_cause(
        ((each.workload, each.reasons) for each in plan.workloads), plan.judgement.simulated
    )
    if cause is not None:
        subject = f"{counted(len(cause.workloads), 'workload')} with one cause"
        state = VERDICT_AFTER_A_NAME["cannot-tell"]
        yield Obstacle(subject, "cannot-tell", state, ((cause.message, cause.fix),))
    grouped = () if cause is None else cause.workloads
    found = _workload_obstacles(plan, grouped, repeated=repeated, every=every)
    yield from found if every else _with_equal_lines(found)


def _with_equal_lines(obstacles: Iterable[Obstacle]) -> Iterator[Obstacle]:
    """Yield the obstacles, with those of several workloads with equal reasons and fixes as one."""
    groups: dict[object, list[Obstacle]] = {}
    for each in obstacles:
        key = (each.verdict, each.lines, each.changes, each.changed_for)
        groups.setdefault(key, []).append(each)
    for group in groups.values():
        if len(group) < _FEWEST_ALIKE:
            yield from group
            continue
        subjects = [each.subject for each in group]
        more = len(subjects) - _MOST_WORKLOADS
        names = subjects if more <= 0 else [*subjects[:_MOST_WORKLOADS], f"{more} more"]
        pending = sum(each.pending for each in group)
        state = (
            f"{pending} of {counted(sum(each.pods for each in group), 'pod')} pending"
            if pending
            else group[0].state
        )
        yield replace(group[0], subject=f"{', '.join(names[:-1])} and {names[-1]}", state=state)


def _workload_obstacles(
    plan: Plan, grouped: Collection[WorkloadRef], *, repeated: str, every: bool
) -> Iterator[Obstacle]:
    for workload in plan.workloads:
        verdict = workload.verdicts[plan.level]
        if verdict == "fits" or not workload.reasons or workload.workload in grouped:
            continue
        pod_sets = pod_sets_by_reason(plan.judgement, workload.workload)
        reasons = tuple(
            _together(
                (reason for reason in workload.reasons if reason.code != MISSING_POOL), pod_sets
            )
        )
        reasons = tuple((what, "" if fix and fix == repeated else fix) for what, fix in reasons)
        lines = reasons if every else reasons[:_MOST_REASONS]
        hidden = len(reasons) - len(lines)
        if hidden:
            lines += ((f"and {hidden} more (--verbose shows them)", ""),)
        missing = tuple(
            _together((each for each in workload.reasons if each.code == MISSING_POOL), {})
        )
        lines = (
            (*missing, *lines) if workload.reasons[0].code == MISSING_POOL else (*lines, *missing)
        )
        pods = counted(workload.placed + workload.pending, "pod")
        state = (
            f"{workload.pending} of {pods} pending"
            if workload.pending
            else VERDICT_AFTER_A_NAME[verdict]
        )
        changes, pool = _changes(workload.reasons)
        yield Obstacle(
            str(workload.workload),
            verdict,
            state,
            lines,
            changes,
            pool,
            workload.pending,
            workload.placed + workload.pending,
        )


def _changes(reasons: Iterable[Reason]) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the changes to selectors for the nearest pool. Changes for other pools might
    contradict these changes. If other pools need different changes, also return the pool's name.
    """
    by_pool: dict[str, dict[tuple[str, str], None]] = {}
    for reason in reasons:
        if reason.changes:
            by_pool.setdefault(reason.pool, {}).update(dict.fromkeys(reason.changes))
    if not by_pool:
        return (), ""
    pool, nearest = next(iter(by_pool.items()))
    differ = any(each != nearest for each in by_pool.values())
    return tuple(nearest), pool if differ else ""


def _together(
    reasons: Iterable[Reason], pod_sets: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    """Yield each reason with its fix. If several pools have the same reason, it appears once, with
    the names of the pools. It begins with the names of its pod sets.
    """
    sets: dict[tuple[str, str], str] = {}
    pools: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        named = pools.setdefault((reason.text, reason.fix), [])
        sets[reason.text, reason.fix] = ", ".join(filter(None, pod_sets.get(reason.message, ())))
        if reason.pool and f'"{reason.pool}"' not in reason.message and reason.pool not in named:
            named.append(reason.pool)
    for (message, fix), names in pools.items():
        where = _pool_names(names)
        if owners := sets[message, fix]:
            where = f"{owners} ({where})" if where else owners
        yield (f"{where}: {message}" if where else message), fix


def _pool_names(names: Sequence[str]) -> str:
    """Return names separated by commas. If there are many names, return only the first few."""
    if len(names) <= _MOST_POOLS + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_POOLS])} and {len(names) - _MOST_POOLS} more pools"
