"""The plan: every step in order, the one judgement, the plan's document, and judging one again."""

from __future__ import annotations

from dra_planner.plan.classes import fleet_classes
from dra_planner.plan.detail import detail_claims
from dra_planner.plan.devices_only import DeviceDemand, OtherDevices, device_demand
from dra_planner.plan.document import judge_document, plan_file
from dra_planner.plan.given_claims import GivenClaim, GivenDevice
from dra_planner.plan.judgement import Judgement, PoolAnswer
from dra_planner.plan.judging import judge
from dra_planner.plan.observed import ReadCluster, read_cluster
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
    "DeviceDemand",
    "GivenClaim",
    "GivenDevice",
    "Judgement",
    "NodeRange",
    "OtherDevices",
    "Plan",
    "PlanRequest",
    "PlannedPool",
    "PlannedWorkload",
    "PoolAnswer",
    "ReadCluster",
    "check_selector",
    "detail_claims",
    "device_demand",
    "fleet_classes",
    "judge",
    "judge_document",
    "make_plan",
    "overall_verdict",
    "plan_file",
    "read_checked",
    "read_cluster",
]
