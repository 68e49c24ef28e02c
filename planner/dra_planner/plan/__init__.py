"""The plan: every step in order, the plan's document, and judging one again."""

from dra_planner.plan.detail import detail_claims
from dra_planner.plan.document import judge_document, plan_document, plan_file
from dra_planner.plan.planning import make_plan
from dra_planner.plan.reading import check_selector, read_checked
from dra_planner.plan.system_pods import set_aside
from dra_planner.plan.values import (
    Cost,
    GivenClaim,
    GivenDevice,
    NodeRange,
    Plan,
    PlannedPool,
    PlannedWorkload,
    PlanRequest,
    overall_verdict,
)

__all__ = [
    "Cost",
    "GivenClaim",
    "GivenDevice",
    "NodeRange",
    "Plan",
    "PlanRequest",
    "PlannedPool",
    "PlannedWorkload",
    "check_selector",
    "detail_claims",
    "judge_document",
    "make_plan",
    "overall_verdict",
    "plan_document",
    "plan_file",
    "read_checked",
    "set_aside",
]
