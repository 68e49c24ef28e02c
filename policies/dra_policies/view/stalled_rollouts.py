"""Rollouts that never finish on the pools of a view."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from dra_planner.model import WorkloadRef
from dra_planner.plan import Judgement, Plan
from dra_planner.plan.judgement.rollouts.findings import ROLLOUTS_NOT_CHECKED
from dra_planner.plan.judgement.rollouts.stalled import (
    RolloutCheck,
    StalledRollout,
    check_rollouts,
)
from dra_planner.sizing import PoolSize
from dra_policies.view.stack_view import StackView


@lru_cache(maxsize=4)
def checked_rollouts(judgement: Judgement) -> RolloutCheck:
    """Return the check of all rollouts. Several rules use it, and it sizes each rollout."""
    return check_rollouts(judgement)


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
        for each in checked_rollouts(judgement).stalled
        if not (each.pools and plan_allows(view, each.pools))
    }
    plan = _plan_without_stack(view)
    if plan is None:
        return found
    return {workload: each for workload, each in found.items() if str(workload) in plan.stalled}


def unchecked_rollouts(view: StackView) -> Collection[WorkloadRef]:
    """Return the workloads whose rollouts weren't checked, because the steps ran out. With a plan,
    these are the workloads that the plan reports as unchecked, with or without its guards.
    """
    if view.judgement is None:
        return ()
    found = checked_rollouts(view.judgement)
    plan = _plan_without_stack(view)
    if plan is None:
        return found.unchecked
    reported = {
        name for each in plan.beside if each.code == ROLLOUTS_NOT_CHECKED for name in each.subjects
    }
    return [each for each in (*found.unchecked, *found.names) if str(each) in reported]


def _plan_without_stack(view: StackView) -> Plan | None:
    """Return the plan of manifests, which contains the findings of the same check. The plan of a
    stack is for the saved fleet, not for the declared pools.
    """
    return view.plan() if view.plan is not None and not view.expects_record else None


def plan_allows(view: StackView, short: tuple[PoolSize, ...]) -> bool:
    """Return whether the fleet of a stack's saved plan allows enough nodes for pools that are too
    small. Without an autoscaler, a stack declares the plan's node counts, not these maximums.
    """
    record = view.record.plan_file if view.record is not None else None
    planned = {pool.name: pool.count.max for pool in record.fleet.pools} if record else {}
    return bool(planned) and all(planned.get(pool.name, 0) >= pool.enough for pool in short)
