"""Rollouts that never finish, because they must start pods before they delete pods, but the new
pods don't fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.quotas import QUOTA_EXCEEDED
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.workloads.updates import POD_FIRST
from dra_planner.model import (
    Demand,
    Figures,
    Member,
    NewFirst,
    QuotaLimit,
    Reason,
    Shape,
    WorkloadRef,
)
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.sizing import POOL_TOO_SMALL, PoolSize, Sizing, WorkloadSize
from dra_planner.wording import counted, listed

ROLLOUT_CANNOT_FINISH: Final = "rollout-cannot-finish"
"""The code of the finding about a rollout that never finishes."""
MOST_NAMES: Final = 3
_PROVED: Final = frozenset({POOL_TOO_SMALL, "limit-too-small"})
"""The codes of reasons that no packing places the pods."""


class StalledRollout(Struct, frozen=True, kw_only=True):
    """A workload whose pods fit, but whose rollout never finishes.

    `start` is how the rollout starts, and `first_pods` is the number of its first pods. `pools` are
    the pools that are too small for them. They are empty if a quota rejects these pods.
    """

    workload: WorkloadRef
    place: Place
    start: NewFirst
    first_pods: int
    reason: Reason
    pools: tuple[PoolSize, ...] = ()

    @property
    def _cause(self) -> tuple[str | int, ...]:
        pools = tuple(pool.name for pool in self.pools) or (self.reason.message,)
        return (self.start.cause, self.first_pods, *pools)


class _Update(Struct, frozen=True):
    """The first pods of a workload's rollout, with their shapes and numbers."""

    workload: WorkloadRef
    place: Place
    start: NewFirst
    pods: tuple[tuple[Shape, Member, int], ...]

    @property
    def first_pods(self) -> int:
        return sum(number for _, _, number in self.pods)

    def stalled(self, reason: Reason, pools: tuple[PoolSize, ...] = ()) -> StalledRollout:
        return StalledRollout(
            workload=self.workload,
            place=self.place,
            start=self.start,
            first_pods=self.first_pods,
            reason=reason,
            pools=pools,
        )


class _Raise(Struct, frozen=True):
    """The pools that are too small for the first pods of a rollout, and the fix."""

    pools: tuple[PoolSize, ...]
    fix: str

    @classmethod
    def of(cls, sizing: Sizing) -> _Raise:
        reasons = _proved_reasons(sizing.workloads)
        pools = tuple(pool for pool in sizing.pools if pool.enough > pool.maximum)
        return cls(pools, next((each.fix for each in reasons), ""))


def stall_findings(stalled: Iterable[StalledRollout]) -> Iterator[Diagnostic]:
    """Yield an error for each cause of rollouts that never finish. Its subjects are the workloads,
    separated by commas. Their verdicts don't change, because their pods run.
    """
    causes: dict[tuple[str | int, ...], list[StalledRollout]] = {}
    for each in stalled:
        causes.setdefault(each._cause, []).append(each)
    for first, *others in causes.values():
        parts = (first.reason.fix, first.start.fix)
        names = [str(each.workload) for each in others]
        more = names[MOST_NAMES:]
        listing = listed([*names[:MOST_NAMES], *([f"{len(more)} more"] if more else [])])
        yield Diagnostic(
            severity="error",
            code=ROLLOUT_CANNOT_FINISH,
            message=f"{first.workload} fits, but its rollouts never finish, because "
            f"{first.start.cause}: {first.reason.message}"
            f"{f'. The same applies to {listing}' if listing else ''}",
            place=first.place,
            fix=", or ".join(filter(None, parts)),
            subject=", ".join((str(first.workload), *names)),
        )


def find_stalled_rollouts(judgement: Judgement) -> tuple[StalledRollout, ...]:
    """Return the rollouts that never finish with every pool at its maximum, if all pods fit at the
    evaluated level.

    One additional pod suffices for a rolling update, because it then deletes an old pod, whose
    devices the next pod can use. So rollouts of several workloads don't block each other.
    Source: kubernetes/kubernetes:pkg/controller/deployment/rolling.go@v1.36.3
    (reconcileNewReplicaSet, reconcileOldReplicaSets).
    """
    peak = judgement.sizings.get("peak")
    if judgement.sizing.verdict != "fits" or peak is None or peak.verdict == "fits":
        return ()
    short: dict[tuple[str, int], _Raise] = {}
    found = {
        each.workload: each
        for update in _updates(judgement)
        for each in (_denied(update, judgement) or _without_room(update, judgement, short),)
        if each is not None
    }
    return tuple(found[workload] for workload in sorted(found))


def why_it_finishes(
    judgement: Judgement, workload: WorkloadRef, stalled: Collection[WorkloadRef]
) -> str:
    """Return why a workload's rollout finishes although not all of its additional pods fit at the
    same time, as a sentence, or "" if this is unknown.
    """
    members = [
        member
        for shape in judgement.demand.shapes
        for member in shape.members
        if member.workload == workload
    ]
    if workload in stalled or not all(_is_at_declared(each, judgement) for each in members):
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


def _updates(judgement: Judgement) -> Iterator[_Update]:
    """Yield the updates of running pods that must start pods before they delete any. The pod sets
    of a workload are updated separately, unless their new pods must run at the same time.
    """
    found: dict[tuple[WorkloadRef, str], list[tuple[Shape, Member, NewFirst]]] = {}
    for shape in judgement.demand.shapes:
        for member in shape.members:
            start, pods = _start(member), member.figures.steady
            if start is not None and 0 < pods == member.figures.at(judgement.level):
                key = "" if start.together else member.pod_set
                found.setdefault((member.workload, key), []).append((shape, member, start))
    for (workload, _), parts in found.items():
        _, first, start = parts[0]
        new = tuple((shape, member, each.pods) for shape, member, each in parts)
        yield _Update(workload, first.place, start, new)


def _start(member: Member) -> NewFirst | None:
    rollout = member.rollout
    if rollout is None:
        return member.new_first
    return POD_FIRST if rollout.surge and not (rollout.unavailable or rollout.kept) else None


def _denied(update: _Update, judgement: Judgement) -> StalledRollout | None:
    """Return the rollout if quotas reject its first pods in addition to all pods."""
    quotas = judgement.demand.quotas
    if quotas is None:
        return None
    needed: Counter[QuotaLimit] = Counter()
    for _, member, pods in update.pods:
        charges = quotas.charges.get((member.workload, member.pod_set), {})
        needed.update({limit: amount * pods for limit, amount in charges.items()})
    if all(quotas.left[limit] >= amount for limit, amount in needed.items() if amount):
        return None
    reasons = (
        each.reason
        for each in judgement.demand.blocked
        if each.member.workload == update.workload and each.reason.code == QUOTA_EXCEEDED
    )
    reason = next(reasons, None)
    return None if reason is None else update.stalled(reason)


def _without_room(
    update: _Update, judgement: Judgement, short: dict[tuple[str, int], _Raise]
) -> StalledRollout | None:
    """Return the rollout if provably no pool has capacity for its first pods.

    `short` caches the raises by the pool that is too small and the number of pods, because finding
    enough nodes takes most of the time.
    """
    sized = judgement.sized
    if sized is None or any(shape.per_node for shape, _, _ in update.pods):
        return None
    sizers = [(sized.sizer, sized.on_gpus)]
    if sized.system is not None and sized.system.sizer is not None:
        sizers.append((sized.system.sizer, sized.elsewhere))
    for sizer, demand in sizers:
        if not any(shape.id == new.id for shape in demand.shapes for new, _, _ in update.pods):
            continue
        sizer = replace(sizer, demand=_with_first_pods(demand, update, judgement))
        sizing = replace(sizer, with_raises=False).size("peak")
        reason = next(_proved_reasons(sizing.workloads), None)
        if reason is None:
            continue
        key = (reason.pool, update.first_pods)
        if key not in short:
            short[key] = _Raise.of(sizer.size("peak"))
        at_peak = (
            known.fix
            for size in judgement.sizings["peak"].workloads
            for known in size.reasons
            if size.workload == update.workload and known.code == reason.code
        )
        raised = short[key]
        fix = next(at_peak, raised.fix)
        return update.stalled(replace(reason, fix=fix), raised.pools)
    return None


def _with_first_pods(demand: Demand, update: _Update, judgement: Judgement) -> Demand:
    """Return the evaluated demand as peak demand, with the first pods of a rollout."""
    more = {(member.workload, member.pod_set): pods for _, member, pods in update.pods}

    def figures(member: Member) -> Figures:
        floor, steady, ceiling, _ = member.figures
        pods = member.figures.at(judgement.level)
        added = more.get((member.workload, member.pod_set), 0)
        return Figures(floor, steady, ceiling, pods if pods is None else pods + added)

    shapes = tuple(
        replace(
            shape, members=tuple(replace(each, figures=figures(each)) for each in shape.members)
        )
        for shape in demand.shapes
    )
    return replace(demand, shapes=shapes, blocked=())


def _proved_reasons(workloads: Collection[WorkloadSize]) -> Iterator[Reason]:
    """Yield the first reason of each workload whose pods provably don't fit."""
    for size in workloads:
        if size.pending and size.reasons and all(each.code in _PROVED for each in size.reasons):
            yield size.reasons[0]
