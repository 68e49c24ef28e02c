"""The admission policies that a plan's guards declare."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from platforms import platform

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import PlanFile, canonical_text
from dra_planner.sources import Source
from pulumi_dra.placement import PlacementPolicies


@cache
def plan_of(placement: str) -> PlanFile:
    given = platform("eks", "small", 2)
    fleet = read_fleet({**given.fleet, "placement": placement})
    return plan_file(
        make_plan(PlanRequest(sources=(Source("workloads.yaml", given.manifests),), fleet=fleet))
    )


def test_each_rule_is_a_policy_with_a_binding(declare: Any) -> None:
    plan = plan_of("guided")
    assert plan.guards is not None
    declared = declare(lambda: PlacementPolicies("placement", {"plan": canonical_text(plan)}))
    policies = declared.all("MutatingAdmissionPolicy")
    bindings = declared.all("MutatingAdmissionPolicyBinding")
    names = {f"pulumi-dra-steer-{rule.pool}" for rule in plan.guards.rules}
    assert {policy.inputs["metadata"]["name"] for policy in policies} == names
    assert {binding.inputs["spec"]["policyName"] for binding in bindings} == names
    for policy in policies:
        spec = policy.inputs["spec"]
        assert spec["failurePolicy"] == "Fail"
        assert spec["mutations"][0]["patchType"] == "JSONPatch"
        assert "pulumi-dra~1pool" in spec["mutations"][0]["jsonPatch"]["expression"]


def test_a_plan_without_guards_declares_no_policy(declare: Any) -> None:
    plan = plan_of("free")
    assert plan.guards is None
    declared = declare(lambda: PlacementPolicies("placement", {"plan": canonical_text(plan)}))
    assert declared.all("MutatingAdmissionPolicy") == []


@pytest.mark.parametrize("text", ["", "{}", "nonsense"])
def test_invalid_plan_file_is_rejected(declare: Any, text: str) -> None:
    with pytest.raises(Exception, match="plan"):
        declare(lambda: PlacementPolicies("placement", {"plan": text}))
