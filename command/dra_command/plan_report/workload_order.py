"""The order in which a report lists workloads: those with pending pods come first."""

from __future__ import annotations

from dra_planner.plan import Plan, PlannedWorkload


def listed_workloads(plan: Plan) -> list[PlannedWorkload]:
    """Return the workloads with pending pods, then the others that don't fit, then the rest."""
    return sorted(
        plan.workloads,
        key=lambda each: (not pending_pods(plan, each), each.verdicts[plan.level] == "fits"),
    )


def pending_pods(plan: Plan, workload: PlannedWorkload) -> str:
    """Return the number of pending pods, or the highest number in any pod arrival order, or ""
    for none.
    """
    if workload.pending:
        return str(workload.pending)
    found = plan.judgement.simulated
    if found is None or found.counts is not None:
        return ""
    ends = [each.pending.get(workload.workload, 0) for each in found.at_maximum or found.at_packing]
    if not any(ends):
        return ""
    fewest = min(ends) if len(ends) == len(found.orders) else 0
    return f"{fewest}–{max(ends)}" if fewest < max(ends) else str(fewest)
