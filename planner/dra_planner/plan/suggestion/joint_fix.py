"""One change of fleet and manifests with which all workloads fit, verified before it's reported."""

from __future__ import annotations

from collections.abc import Set

from msgspec.structs import replace

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.model import NO_GUARDS, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import JointFix, Plan
from dra_planner.plan.suggestion.joint_search import JointSearch


def with_joint_fix(plan: Plan) -> Plan:
    """Return the plan with one change that clears what keeps its workloads from running, if there
    is one, and a note if the search for it ended at a limit.

    A single workload gets one only if the fix of its pods leads to the next finding: its own fixes
    already raise maximums for all demands. Nothing is looked for if something else than capacity
    keeps pods from running.
    """
    judgement, fleet = plan.judgement, plan.fleet
    if fleet is None or judgement.is_observed or plan.guards != NO_GUARDS:
        return plan
    if judgement.demand.blocked or any(each.verdict != "fits" for each in plan.blockers):
        return plan
    if any(each.severity == "error" for each in plan.diagnostics):
        return plan
    unfit = {size.workload for size in judgement.sizing.workloads if size.verdict != "fits"}
    if not unfit or (len(unfit) == 1 and not _fits_no_pool(judgement, unfit)):
        return plan
    found, ended_at = find_joint_fix(plan, fleet)
    if found is not None and len(unfit) == 1 and len(found.steps) == 1:
        return plan
    if found is None and ended_at:
        return replace(plan, diagnostics=(*plan.diagnostics, _ended_note(ended_at)))
    return replace(plan, joint_fix=found)


def find_joint_fix(plan: Plan, fleet: Fleet) -> tuple[JointFix | None, str]:
    """Return the change with which the workloads of a plan fit, even if it's one step for one
    workload, and the limit at which the search ended before it had tried everything, or "".
    """
    search = JointSearch(plan, fleet)
    return search.run(), search.ended_at


def _fits_no_pool(judgement: Judgement, workloads: Set[WorkloadRef]) -> bool:
    return any(
        all(answer.verdict != "fits" for answer in judgement.answers(shape))
        for shape in judgement.demand.shapes
        if any(member.workload in workloads for member in shape.members)
    )


def _ended_note(limit: str) -> Diagnostic:
    return Diagnostic(
        severity="note",
        code="search-ended",
        message=f"The search for one change that fits all workloads reached {limit}",
    )
