"""Run all steps of a plan, determine the verdict, and check saved plans."""

from __future__ import annotations

from dra_planner.plan.cluster.snapshot_plan import ReadCluster, read_cluster
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.demand.device_demand import DeviceDemand, OtherDevices, device_demand
from dra_planner.plan.judgement.claim_devices import GivenClaim, GivenDevice
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.model import (
    Cost,
    NodeRange,
    Plan,
    PlannedPool,
    PlannedWorkload,
    PlanRequest,
    overall_verdict,
)
from dra_planner.plan.nodes.claim_detail import detail_claims
from dra_planner.plan.planning import make_plan
from dra_planner.plan.reading import check_selector, read_checked
from dra_planner.plan.saved.document import judge_document, plan_file

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
