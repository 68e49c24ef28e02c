"""The order of the pools that a pod doesn't fit: the smallest change to the pod first."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.allocation import Edit, Refusal
from dra_planner.allocation.reasons.edits import distance
from dra_planner.model import Reason, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer

_Miss = tuple[bool, bool, tuple[int, int, float]]


def smallest_change(pools: Iterable[PoolAnswer]) -> tuple[Edit, ...]:
    """Return the edits with which the pod fits the nearest of the pools that reject it. Empty if
    no edits help there.
    """
    rejecting = (pool for pool in pools if isinstance(pool.answer, Refusal))
    nearest = min(rejecting, key=_miss, default=None)
    return () if nearest is None else nearest.edits


def nearest_first(
    reasons: tuple[Reason, ...], judgement: Judgement, workload: WorkloadRef
) -> tuple[Reason, ...]:
    """Return a workload's reasons, with the pools that reject its pods at the end, nearest first.

    Nodes of a snapshot keep their order, because a cluster can have hundreds of them.
    """
    if judgement.is_observed or len({reason.pool for reason in reasons}) < 2:
        return reasons
    misses: dict[str, _Miss] = {}
    for shape in judgement.demand.shapes:
        if any(member.workload == workload for member in shape.members):
            for pool in judgement.answers(shape):
                if isinstance(pool.answer, Refusal):
                    miss = _miss(pool)
                    misses[pool.offer.name] = min(misses.get(pool.offer.name, miss), miss)
    rejected = [reason for reason in reasons if reason.pool in misses]
    others = [reason for reason in reasons if reason.pool not in misses]
    return (*others, *sorted(rejected, key=lambda reason: misses[reason.pool]))


def _miss(pool: PoolAnswer) -> _Miss:
    """Return a sort key: nodes that lack only devices first, then the smallest edits."""
    assert isinstance(pool.answer, Refusal)
    return pool.answer.misfit is not None, not pool.edits, distance(pool.edits)
