"""Rollouts that never finish on the pools of a view."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dra_planner.model import WorkloadRef
from dra_planner.plan.judgement.rollouts.stalled import StalledRollout, check_rollouts
from dra_planner.sizing import PoolSize
from dra_policies.view.stack_view import StackView


def stalled_rollouts(view: StackView) -> Mapping[WorkloadRef, StalledRollout]:
    """Return the rollouts of Deployments that never finish, by workload.

    A plan for more demand, or an autoscaler, resolves a rollout that is only limited by the node
    counts or the guards of a plan, so it isn't included.
    """
    judgement = view.judgement
    if judgement is None:
        return {}
    found = {
        each.workload: each
        for each in check_rollouts(judgement).stalled
        if not (each.pools and plan_allows(view, each.pools))
    }
    plan = view.plan() if view.plan is not None and not view.expects_record else None
    if plan is None:
        return found
    return {workload: each for workload, each in found.items() if str(workload) in plan.stalled}


def unchecked_rollouts(view: StackView) -> Collection[WorkloadRef]:
    """Return the workloads whose rollouts weren't checked, because the steps ran out."""
    return () if view.judgement is None else check_rollouts(view.judgement).unchecked


def plan_allows(view: StackView, short: tuple[PoolSize, ...]) -> bool:
    """Return whether the fleet of a stack's saved plan allows enough nodes for pools that are too
    small. Without an autoscaler, a stack declares the plan's node counts, not these maximums.
    """
    record = view.record.plan_file if view.record is not None else None
    planned = {pool.name: pool.count.max for pool in record.fleet.pools} if record else {}
    return bool(planned) and all(planned.get(pool.name, 0) >= pool.enough for pool in short)
