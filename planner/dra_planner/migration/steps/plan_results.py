"""Pending pods, and reasons, in the plans of a step."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.migration.steps.states import shown_name
from dra_planner.plan import Plan


def most_pending(plans: Iterable[Plan]) -> int | None:
    """Return the largest number of pending pods in any plan, or None if a plan's verdict is "cannot
    tell".
    """
    worst = 0
    for plan in plans:
        pending = sum(each.pending for each in plan.workloads)
        if plan.running == "cannot-tell" or (plan.running != "fits" and not pending):
            return None
        worst = max(worst, pending)
    return worst


def reasons_of(plans: Iterable[Plan]) -> tuple[str, ...]:
    """Return the reasons why plans leave pods pending, each reason once, in order."""
    found: dict[str, None] = {}
    for plan in plans:
        for workload in plan.workloads:
            for reason in workload.reasons:
                found.setdefault(f"{shown_name(workload.workload)}: {reason.text}")
        if plan.running != "fits":
            found |= {each.message: None for each in plan.findings if each.severity == "error"}
    return tuple(found)
