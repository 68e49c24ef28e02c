"""Rollouts that never finish, because they must start pods before they delete pods, but the new
pods don't fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.quota import QUOTA_EXCEEDED
from dra_planner.errors import Place
from dra_planner.model import Demand, NewFirst, QuotaLimit, Reason, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.observed import room_on_nodes
from dra_planner.plan.judgement.rollouts.updates import Update, find_updates
from dra_planner.sizing import POOL_TOO_SMALL, PoolSize, Sizer, Sizing, WorkloadSize

ROLLOUT_STEPS: Final = 40_000
"""Steps of the check of all rollouts: shapes on pools, over all sizings."""
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

    @classmethod
    def of(cls, update: Update, reason: Reason, pools: tuple[PoolSize, ...] = ()) -> StalledRollout:
        """Return the rollout of an update that stalls for this reason."""
        return cls(
            workload=update.workload,
            place=update.place,
            start=update.start,
            first_pods=update.first_pods,
            reason=reason,
            pools=pools,
        )

    @property
    def cause(self) -> tuple[str | int, ...]:
        pools = tuple(pool.name for pool in self.pools) or (self.reason.message,)
        return (self.start.cause, self.first_pods, *pools)


class _Raise(Struct, frozen=True):
    """The pools that are too small for the first pods of a rollout, and the fix."""

    pools: tuple[PoolSize, ...]
    fix: str

    @classmethod
    def of(cls, sizing: Sizing) -> _Raise:
        reasons = _proved_reasons(sizing.workloads)
        pools = tuple(pool for pool in sizing.pools if pool.enough > pool.maximum)
        return cls(pools, next((each.fix for each in reasons), ""))


class RolloutCheck(Struct, frozen=True, kw_only=True):
    """The rollouts that never finish, and the workloads whose rollouts weren't checked, because the
    steps ran out. `unknown` are workloads in a snapshot with the reason, as a clause, why it's
    unknown whether their rollouts finish. `by_version` are rollouts that never finish with older
    controllers, regardless of pools and quotas.
    """

    stalled: tuple[StalledRollout, ...] = ()
    unchecked: tuple[WorkloadRef, ...] = ()
    unknown: tuple[tuple[WorkloadRef, str], ...] = ()
    by_version: tuple[Update, ...] = ()

    @property
    def names(self) -> frozenset[WorkloadRef]:
        """The workloads whose rollouts never finish."""
        return frozenset(each.workload for each in self.stalled)


def check_rollouts(judgement: Judgement, steps: int = ROLLOUT_STEPS) -> RolloutCheck:
    """Return the rollouts that never finish with every pool at its maximum, if all pods fit at the
    evaluated level. `steps` limits the sizings.

    One additional pod suffices for a rolling update, because it then deletes an old pod, whose
    devices the next pod can use. So rollouts of several workloads don't block each other.
    Source: kubernetes/kubernetes:pkg/controller/deployment/rolling.go@v1.36.3
    (reconcileNewReplicaSet, reconcileOldReplicaSets).
    """
    if judgement.sizing.verdict != "fits":
        return RolloutCheck()
    by_version = _depending_on_version(judgement)
    if judgement.outcome is not None:
        return replace(_check_on_nodes(judgement), by_version=by_version)
    return replace(_check_on_pools(judgement, steps), by_version=by_version)


def rollout_maximums(judgement: Judgement) -> dict[str, int]:
    """Return the higher maximums that the first pods of rollouts need, by pool, even if only the
    simulation leaves pods pending.
    """
    needed: dict[str, int] = {}
    for rollout in _check_on_pools(judgement, ROLLOUT_STEPS).stalled:
        for pool in rollout.pools:
            needed[pool.name] = max(pool.enough, needed.get(pool.name, 0))
    return needed


def _check_on_pools(judgement: Judgement, steps: int) -> RolloutCheck:
    peak = judgement.sizings.get("peak")
    if peak is None or peak.verdict == "fits":
        return RolloutCheck()
    search = _Search(judgement, steps)
    found: dict[WorkloadRef, StalledRollout] = {}
    unchecked: set[WorkloadRef] = set()
    for update in find_updates(judgement):
        if (denied := _denied(update, judgement)) is not None:
            found[update.workload] = denied
        elif search.can_check(update):
            if (stalled := search.without_room(update)) is not None:
                found[update.workload] = stalled
        else:
            unchecked.add(update.workload)
    return RolloutCheck(
        stalled=tuple(found[workload] for workload in sorted(found)),
        unchecked=tuple(sorted(unchecked - found.keys())),
    )


def _depending_on_version(judgement: Judgement) -> tuple[Update, ...]:
    updates = {
        update.workload: update
        for update in find_updates(judgement)
        if update.start.old_controllers and not update.is_ahead
    }
    return tuple(updates[workload] for workload in sorted(updates))


def _check_on_nodes(judgement: Judgement) -> RolloutCheck:
    """Return the rollouts that never finish on the nodes of a snapshot, if all pods are placed."""
    found: dict[WorkloadRef, StalledRollout] = {}
    unknown: dict[WorkloadRef, str] = {}
    for update in find_updates(judgement):
        if update.is_ahead or any(shape.per_node for shape, _, _ in update.pods):
            continue
        if (denied := _denied(update, judgement)) is not None:
            found[update.workload] = denied
        elif isinstance(room := room_on_nodes(update, judgement), str):
            unknown[update.workload] = room
        elif room is not None:
            found[update.workload] = StalledRollout.of(update, room)
    return RolloutCheck(
        stalled=tuple(found[workload] for workload in sorted(found)),
        unknown=tuple(sorted((ref, why) for ref, why in unknown.items() if ref not in found)),
    )


def _denied(update: Update, judgement: Judgement) -> StalledRollout | None:
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
    return None if reason is None else StalledRollout.of(update, reason)


class _Search:
    """Sizes the first pods of rollouts in addition to all pods.

    Rollouts whose first pods have equal needs share a sizing. A step is a shape on a pool, and a
    sizing needs a step for each pair.
    """

    def __init__(self, judgement: Judgement, steps: int) -> None:
        self._judgement, self._left = judgement, steps
        self._parts: list[tuple[Sizer, Demand, frozenset[str]]] = []
        if (sized := judgement.sized) is not None:
            self._add(sized.sizer, sized.on_gpus)
            if sized.system is not None and sized.system.sizer is not None:
                self._add(sized.system.sizer, sized.elsewhere)
        self._reasons: dict[tuple[object, ...], Reason | None] = {}
        # the raises by the pool that is too small, the number of pods, and the pools that fit them,
        # because finding enough nodes takes most of the time
        self._short: dict[tuple[object, ...], _Raise] = {}

    def _add(self, sizer: Sizer, demand: Demand) -> None:
        self._parts.append((sizer, demand, frozenset(shape.id for shape in demand.shapes)))

    def can_check(self, update: Update) -> bool:
        """Return whether the steps suffice for the update, and use them."""
        steps = sum(
            len(ids) * len(sizer.offers)
            for sizer, _, ids in self._parts_of(update)
            if _needs(update, sizer, ids) not in self._reasons
        )
        if steps > self._left:
            return False
        self._left -= steps
        return True

    def without_room(self, update: Update) -> StalledRollout | None:
        """Return the rollout if provably no pool has capacity for its first pods."""
        for sizer, demand, ids in self._parts_of(update):
            sizer = replace(sizer, demand=update.with_first_pods(demand, self._judgement))
            key = _needs(update, sizer, ids)
            if key not in self._reasons:
                sizing = replace(sizer, with_raises=False).size("peak")
                self._reasons[key] = next(_proved_reasons(sizing.workloads), None)
            reason = self._reasons[key]
            if reason is not None:
                return self._stalled(update, reason, sizer)
        return None

    def _parts_of(self, update: Update) -> Iterator[tuple[Sizer, Demand, frozenset[str]]]:
        if not any(shape.per_node for shape, _, _ in update.pods):
            for part in self._parts:
                if any(shape.id in part[2] for shape, _, _ in update.pods):
                    yield part

    def _stalled(self, update: Update, reason: Reason, sizer: Sizer) -> StalledRollout:
        sizes = self._judgement.sizings["peak"].workloads
        own = [size for size in sizes if size.workload == update.workload]
        key = (reason.pool, update.first_pods, *(size.fits for size in own))
        if key not in self._short:
            self._short[key] = _Raise.of(sizer.size("peak"))
        at_peak = (known.fix for size in own for known in size.reasons if known.code == reason.code)
        raised = self._short[key]
        return StalledRollout.of(
            update, replace(reason, fix=next(at_peak, raised.fix)), raised.pools
        )


def _needs(update: Update, sizer: Sizer, ids: frozenset[str]) -> tuple[object, ...]:
    """Return a key that is equal for updates whose first pods on these pools have equal needs."""
    keys = tuple(
        (sizer.nodes.needs(shape) or shape.id, pods)
        for shape, _, pods in update.pods
        if shape.id in ids
    )
    return (id(sizer.nodes), *keys)


def _proved_reasons(workloads: Collection[WorkloadSize]) -> Iterator[Reason]:
    """Yield the first reason of each workload whose pods provably don't fit."""
    for size in workloads:
        if size.pending and size.reasons and all(each.code in _PROVED for each in size.reasons):
            yield size.reasons[0]
