"""The plan: every step in order, the one judgement, the plan's document, and judging one again."""

from dra_planner.plan.classes import fleet_classes
from dra_planner.plan.detail import detail_claims
from dra_planner.plan.document import judge_document, plan_document, plan_file
from dra_planner.plan.given_claims import GivenClaim, GivenDevice
from dra_planner.plan.judgement import Judgement, PoolAnswer
from dra_planner.plan.judging import judge
from dra_planner.plan.planning import make_plan
from dra_planner.plan.reading import check_selector, read_checked
from dra_planner.plan.values import (
    Cost,
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
    "Judgement",
    "NodeRange",
    "Plan",
    "PlanRequest",
    "PlannedPool",
    "PlannedWorkload",
    "PoolAnswer",
    "check_selector",
    "detail_claims",
    "fleet_classes",
    "judge",
    "judge_document",
    "make_plan",
    "overall_verdict",
    "plan_document",
    "plan_file",
    "read_checked",
]
