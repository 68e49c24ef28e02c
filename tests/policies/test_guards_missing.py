"""guards-missing: a stack whose plan has guards declares their admission policies."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from platforms import platform

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import PlanFile, policy_name
from dra_planner.sources import Source
from dra_policies.rules.record.guards_missing import RULE
from dra_policies.unknown_values import UNKNOWN, Properties
from dra_policies.view.stack_view import DeclaredResource, Record, StackView

POLICY = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"


def planned(placement: str) -> PlanFile:
    given = platform("aks", "small", 1)
    fleet = read_fleet({**given.fleet, "placement": placement})
    return plan_file(
        make_plan(PlanRequest(sources=(Source("workloads.yaml", given.manifests),), fleet=fleet))
    )


@pytest.fixture(scope="module")
def saved() -> PlanFile:
    return planned("guided")


def view(saved: PlanFile, names: Iterable[object]) -> StackView:
    policies = tuple(
        DeclaredResource(
            urn=f"urn:{at}",
            type=POLICY,
            name=f"policy-{at}",
            props=Properties({"metadata": {"name": name}}),
        )
        for at, name in enumerate(names)
    )
    return StackView(
        complete=True, record=Record(urn="urn:plan", plan_file=saved), objects=policies
    )


def wanted(saved: PlanFile) -> list[str]:
    assert saved.guards is not None
    return [policy_name(rule) for rule in saved.guards.guards.rules]


def test_a_stack_without_the_policies_is_reported(saved: PlanFile) -> None:
    """Given none of the policies, expect one finding with their names."""
    (found,) = RULE.check(view(saved, ()))
    assert wanted(saved)[0] in found.message
    assert "PlacementPolicies" in found.fix


def test_both_fixes_remove_the_finding(saved: PlanFile) -> None:
    """After either way of the fix (the policies of the plan, or a plan without guards), expect no
    finding.
    """
    (found,) = RULE.check(view(saved, ()))
    assert found.fix == (
        "create the PlacementPolicies component with this plan, or set `placement: free` in the "
        "fleet definition (`pulumi-dra:fleet` in the stack configuration, or the fleet file) and "
        "update the plan with `pulumi-dra plan --stack STACK --write`"
    )
    assert not list(RULE.check(view(saved, wanted(saved))))
    assert not list(RULE.check(view(planned("free"), ())))


def test_a_policy_with_an_unknown_name_causes_no_finding(saved: PlanFile) -> None:
    assert not list(RULE.check(view(saved, [UNKNOWN])))


def test_policies_are_not_required_before_kubernetes_1_36(saved: PlanFile) -> None:
    older = saved.model_copy(
        update={"fleet": saved.fleet.model_copy(update={"kubernetes": "1.35"})}
    )
    assert not list(RULE.check(view(older, ())))
