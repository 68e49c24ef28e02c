"""What a finding of a stack says would fix it is done, and the finding goes; nothing worse comes of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from stack_fixes import STACK_FIXES, Stack, StackFix
from test_seeded_faults import good

from dra_policies.judge import Judge, Told
from dra_policies.rules import RULES


@pytest.mark.parametrize("case", STACK_FIXES, ids=lambda case: case.fix[:60])
def test_following_the_fix_makes_the_finding_go(declare: SimpleNamespace, case: StackFix) -> None:
    stack = good(declare, case.cloud)
    case.fault(declare, stack)
    before = entries(stack)
    said = [entry for entry in before if is_made_of(entry.finding.fix, case.fix)]
    assert said, [entry.finding.fix for entry in before]

    case.follow(declare, stack)

    after = entries(stack)
    assert {entry.finding.message for entry in said}.isdisjoint(entry.finding.message for entry in after)
    worse = {entry.rule.id for entry in after if entry.rule.level == "mandatory"}
    assert worse <= {entry.rule.id for entry in before}


def entries(stack: Stack) -> list[Told]:
    judge = Judge(RULES)
    return [entry for each in stack.values() for entry in judge.of_resource(each)] + list(
        judge.of_stack(list(stack.values()))
    )


def is_made_of(fix: str, text: str) -> bool:
    """Whether a fix is a text of the code with its parts filled in."""
    begin, *rest = text.split("{}")
    at = len(begin)
    for part in rest:
        at = fix.find(part, at) + len(part)
        if at < len(part):
            return False
    return fix.startswith(begin) and (fix.endswith(rest[-1]) if rest else fix == begin)
