"""Rollouts of Deployments that never finish, because they must start a pod before they delete one,
but no additional pod fits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.quotas import QUOTA_EXCEEDED
from dra_planner.errors import Diagnostic, Place
from dra_planner.model import Demand, Figures, Member, Reason, Shape, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.sized_demand import SizedDemand
from dra_planner.sizing import POOL_TOO_SMALL, PoolSize, Sizing, WorkloadSize
from dra_planner.wording import counted, listed

ROLLOUT_CANNOT_FINISH: Final = "rollout-cannot-finish"
"""The code of the finding about a rollout that never finishes."""
REMOVE_FIRST: Final = "set the rollout's maxSurge to 0 and maxUnavailable to 1"
MOST_NAMES: Final = 3
_PROVED: Final = frozenset({POOL_TOO_SMALL, "limit-too-small"})
"""The codes of reasons that no packing places the pods."""


class StalledRollout(Struct, frozen=True, kw_only=True):
    """A workload whose pods fit, but whose rollout never finishes.

    `pools` are the pools that are too small for one additional pod. They are empty if a quota
    rejects the pod.
    """

    workload: WorkloadRef
    place: Place
    reason: Reason
    pools: tuple[PoolSize, ...] = ()

    @property
    def _cause(self) -> tuple[str, ...]:
        return tuple(pool.name for pool in self.pools) or (self.reason.message,)


class _Raise(Struct, frozen=True):
    """The pools that are too small for one more pod, and the fix."""

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
    causes: dict[tuple[str, ...], list[StalledRollout]] = {}
    for each in stalled:
        causes.setdefault(each._cause, []).append(each)
    for first, *others in causes.values():
        fix, names = first.reason.fix, [str(each.workload) for each in others]
        more = names[MOST_NAMES:]
        listing = listed([*names[:MOST_NAMES], *([f"{len(more)} more"] if more else [])])
        yield Diagnostic(
            severity="error",
            code=ROLLOUT_CANNOT_FINISH,
            message=f"{first.workload} fits, but its rollouts never finish, because a new pod must "
            "run before an old pod stops (maxUnavailable allows 0 pods): "
            f"{first.reason.message}{f'. The same applies to {listing}' if listing else ''}",
            place=first.place,
            fix=f"{fix}, or {REMOVE_FIRST}" if fix else REMOVE_FIRST,
            subject=", ".join((str(first.workload), *names)),
        )


def find_stalled_rollouts(judgement: Judgement) -> tuple[StalledRollout, ...]:
    """Return the rollouts that never finish with every pool at its maximum, if all pods fit at the
    evaluated level.

    One additional pod suffices for a rollout, because the rollout then deletes an old pod, whose
    devices the next pod can use. So rollouts of several workloads don't block each other.
    Source: kubernetes/kubernetes:pkg/controller/deployment/rolling.go@v1.36.3
    (reconcileNewReplicaSet, reconcileOldReplicaSets).
    """
    peak = judgement.sizings.get("peak")
    if judgement.sizing.verdict != "fits" or peak is None or peak.verdict == "fits":
        return ()
    short: dict[str, _Raise] = {}
    found = {
        each.workload: each
        for shape in judgement.demand.shapes
        for member in shape.members
        if _starts_first(member, judgement)
        for each in (_denied(member, judgement) or _without_room(shape, member, judgement, short),)
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


def _starts_first(member: Member, judgement: Judgement) -> bool:
    """Return whether the rollout of running pods must start a pod before it deletes one."""
    rollout, pods = member.rollout, member.figures.steady
    return (
        rollout is not None
        and rollout.surge > 0
        and not (rollout.unavailable or rollout.kept)
        and 0 < pods == member.figures.at(judgement.level)
    )


def _denied(member: Member, judgement: Judgement) -> StalledRollout | None:
    """Return the rollout if quotas reject one more pod of a workload in addition to all pods."""
    quotas = judgement.demand.quotas
    if quotas is None:
        return None
    charges = quotas.charges.get((member.workload, member.pod_set), {})
    if all(quotas.left[limit] >= amount for limit, amount in charges.items() if amount):
        return None
    reasons = (
        each.reason
        for each in judgement.demand.blocked
        if each.member.workload == member.workload and each.reason.code == QUOTA_EXCEEDED
    )
    reason = next(reasons, None)
    if reason is None:
        return None
    return StalledRollout(workload=member.workload, place=member.place, reason=reason)


def _without_room(
    shape: Shape, member: Member, judgement: Judgement, short: dict[str, _Raise]
) -> StalledRollout | None:
    """Return the rollout if provably no pool has capacity for one more pod of a workload.

    `short` caches the raises by the pool that is too small, because finding enough nodes takes most
    of the time.
    """
    sized = judgement.sized
    if sized is None or shape.per_node or shape.id in judgement.on_system:
        return None
    sizer = replace(sized.sizer, demand=_one_more(sized, member, judgement))
    sizing = replace(sizer, with_raises=False).size("peak")
    reason = next(_proved_reasons(sizing.workloads), None)
    if reason is None:
        return None
    if reason.pool not in short:
        short[reason.pool] = _Raise.of(sizer.size("peak"))
    at_peak = (
        known.fix
        for size in judgement.sizings["peak"].workloads
        for known in size.reasons
        if size.workload == member.workload and known.code == reason.code
    )
    raised = short[reason.pool]
    return StalledRollout(
        workload=member.workload,
        place=member.place,
        reason=replace(reason, fix=next(at_peak, raised.fix)),
        pools=raised.pools,
    )


def _one_more(sized: SizedDemand, grown: Member, judgement: Judgement) -> Demand:
    """Return the evaluated demand as peak demand, with one more pod of a workload."""

    def figures(member: Member) -> Figures:
        floor, steady, ceiling, _ = member.figures
        pods = member.figures.at(judgement.level)
        is_grown = (member.workload, member.pod_set) == (grown.workload, grown.pod_set)
        return Figures(floor, steady, ceiling, pods if pods is None else pods + is_grown)

    shapes = tuple(
        replace(
            shape, members=tuple(replace(each, figures=figures(each)) for each in shape.members)
        )
        for shape in sized.on_gpus.shapes
    )
    return replace(sized.on_gpus, shapes=shapes, blocked=())


def _proved_reasons(workloads: Collection[WorkloadSize]) -> Iterator[Reason]:
    """Yield the first reason of each workload whose pods provably don't fit."""
    for size in workloads:
        if size.pending and size.reasons and all(each.code in _PROVED for each in size.reasons):
            yield size.reasons[0]
