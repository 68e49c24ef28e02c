"""Maximums of new pools at which the rollouts of a plan's workloads finish."""

from __future__ import annotations

from collections.abc import Collection

from dra_planner.plan.model import Plan


def rollout_maximums(plan: Plan, pools: Collection[str]) -> dict[str, int]:
    """Return the maximums of these pools that are too small for rollouts that never finish. They
    suffice for the plan's peak demand. Empty if all rollouts finish.
    """
    peak = plan.judgement.sizings.get("peak")
    if not plan.stalled or peak is None:
        return {}
    return {
        pool.name: pool.enough
        for pool in peak.pools
        if pool.name in pools and pool.enough > pool.maximum
    }
