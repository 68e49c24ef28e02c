"""The component `PlanGate` declares the same objects as `plan --gate` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dra_planner.planfile import canonical_text, read_plan_file
from dra_planner.planfile.admission_gate import admission_gate
from pulumi_dra.placement import PlanGate

PLAN = read_plan_file(Path(__file__).parents[2] / "stacks/eks-dev.plan.json")
KINDS = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ResourceQuota")


def declared(declare: Any, **inputs: Any) -> dict[str, list[dict[str, Any]]]:
    found = declare(lambda: PlanGate("gate", {"plan": canonical_text(PLAN), **inputs}))
    return {kind: [each.inputs for each in found.all(kind)] for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_objects_match_the_admission_file(declare: Any, kind: str) -> None:
    written = [each for each in admission_gate(PLAN) if each["kind"] == kind]
    assert written
    found = declared(declare)[kind]
    by_name = {each["metadata"]["name"]: each["spec"] for each in found}
    assert by_name == {each["metadata"]["name"]: each["spec"] for each in written}


def test_quotas_can_be_disabled(declare: Any) -> None:
    found = declared(declare, quotas=False)
    assert (len(found["ValidatingAdmissionPolicy"]), found["ResourceQuota"]) == (3, [])
