"""The order in which a report lists workloads: those with pending pods come first."""

from __future__ import annotations

from collections.abc import Callable

from dra_planner.plan import Plan, PlannedWorkload
from dra_planner.simulation import Stranding


def listed_workloads(plan: Plan) -> list[PlannedWorkload]:
    """Return the workloads with pending pods, then the others that don't fit, then the rest."""
    return sorted(
        plan.workloads,
        key=lambda each: (not pending_pods(plan, each), each.verdicts[plan.level] == "fits"),
    )


def pending_pods(plan: Plan, workload: PlannedWorkload) -> str:
    """Return the number of pending pods, or the fewest and most in any pod arrival order, or "" for
    none.
    """
    if workload.pending:
        return str(workload.pending)
    return _over_orders(plan, lambda each: each.pending.get(workload.workload, 0))


def all_pending_pods(plan: Plan) -> str:
    """Return the same for the pods of all workloads, with "0" for none."""
    pending = sum(workload.pending for workload in plan.workloads)
    return str(pending) if pending else _over_orders(plan, lambda each: each.pods) or "0"


def _over_orders(plan: Plan, pods: Callable[[Stranding], int]) -> str:
    """Return the fewest and most pods in any pod arrival order if the simulation leaves some
    pending.
    """
    found = plan.judgement.simulated
    if found is None or found.counts is not None:
        return ""
    ends = [pods(each) for each in found.at_maximum or found.at_packing]
    if not any(ends):
        return ""
    fewest = min(ends) if len(ends) == len(found.orders) else 0
    return f"{fewest}–{max(ends)}" if fewest < max(ends) else str(fewest)
