"""Cost ceilings for all pools and for one pool: no findings without a threshold, and exact with
one.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from seeded_stacks import base, edited

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge, ReportedFinding

ALL, ONE = "cost-above-ceiling", "pool-cost-above-ceiling"
HOURLY = 4.6016  # g6.12xlarge on demand in us-east-1
MONTH = HOURLY * 730 * 6


def cost_findings(
    stack: Mapping[str, Resource], thresholds: Mapping[str, float]
) -> list[ReportedFinding]:
    found = Judge(RULES, thresholds=thresholds).of_stack(list(stack.values()))
    return [each for each in found if each.rule.id in (ALL, ONE)]


def test_without_a_threshold_cost_is_not_reported() -> None:
    assert cost_findings(base("raw-eks"), {}) == []


@pytest.mark.parametrize("rule", [ALL, ONE])
def test_cost_is_reported_only_above_the_threshold(rule: str) -> None:
    (entry,) = cost_findings(base("raw-eks"), {rule: MONTH - 1})
    assert entry.rule.level == "mandatory"
    assert f"${MONTH:,.0f} per month" in entry.finding.message
    assert cost_findings(base("raw-eks"), {rule: MONTH + 1}) == []


def test_applying_the_fix_removes_the_finding() -> None:
    (entry,) = cost_findings(base("raw-eks"), {ONE: MONTH - 1})
    assert "lower its maximum to 5" in entry.finding.fix
    assert entry.finding.urn.endswith("::gpus")
    assert (
        cost_findings(edited(base("raw-eks"), {"gpus/scalingConfig/maxSize": 5}), {ONE: MONTH - 1})
        == []
    )
