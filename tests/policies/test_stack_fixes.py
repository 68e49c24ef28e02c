"""After the test follows the fix of a finding in a stack, the finding is gone, and no worse finding
appears.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import pytest
from stack_fixes import STACK_FIXES, Stack, StackFix, is_filled_from
from test_seeded_faults import good

from dra_policies.rules import RULES
from dra_policies.stack_evaluation import Judge, ReportedFinding


@pytest.mark.parametrize("case", STACK_FIXES, ids=lambda case: case.fix[:60])
def test_applying_the_fix_removes_the_finding(declare: SimpleNamespace, case: StackFix) -> None:
    stack = good(declare, case.cloud)
    case.fault(declare, stack)
    before = entries(stack, case.thresholds)
    fixed = [entry for entry in before if is_filled_from(entry.finding.fix, case.fix)]
    assert fixed, [entry.finding.fix for entry in before]

    case.follow(declare, stack)

    after = entries(stack, case.thresholds)
    assert {entry.finding.message for entry in fixed}.isdisjoint(
        entry.finding.message for entry in after
    )
    worse = {entry.rule.id for entry in after if entry.rule.level == "mandatory"}
    assert worse <= {entry.rule.id for entry in before}


def entries(stack: Stack, thresholds: Mapping[str, float]) -> list[ReportedFinding]:
    judge = Judge(RULES, thresholds=thresholds)
    return [entry for each in stack.values() for entry in judge.of_resource(each)] + list(
        judge.of_stack(list(stack.values()))
    )
