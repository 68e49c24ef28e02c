"""Expression bombs: every evaluation ends within its step limit, and reports this."""

from __future__ import annotations

import time
from typing import Final

import pytest

from dra_planner.cel import types
from dra_planner.cel.values import MapValue
from dra_policies.configuration.custom.compiled_rule import (
    DEFAULT_BUDGET,
    RULE_BUDGET,
    CompiledRule,
    RuleAnswer,
)
from dra_policies.configuration.custom.rule_schema import CustomRule
from dra_policies.view.stack_view import StackView

TEN: Final = "[0,1,2,3,4,5,6,7,8,9]"
NESTED: Final = "true"
for _ in range(7):
    NESTED = f"{TEN}.all(x, {NESTED})"
DOUBLED: Final = '["aaaaaaaaaa"]' + ".map(s, s + s)" * 40
BOMBS: Final = {
    "loops in loops": NESTED,
    "a text doubled forty times": f"{DOUBLED}.size() == 1",
    "a list doubled thirty times": "cel.bind(a, [1,2,3,4], "
    + "cel.bind(a, a + a, " * 30
    + "a.size() > 0"
    + ")" * 31,
    "a long range": "lists.range(1000000).all(i, i >= 0)",
    "ranges in ranges": "lists.range(1000).all(i, lists.range(1000).all(j, i + j >= 0))",
    "a slow pattern": f'("{"a" * 2000}").matches("(a+)+$") && {NESTED}',
    "many joins": 'lists.range(3000).map(i, lists.range(300).map(j, string(j)).join("-")).size() > '
    "0",
}


def answer(expression: str) -> RuleAnswer:
    rule = CustomRule.model_validate({"for": "plan", "expression": expression, "message": "m"})
    return CompiledRule(rule).answer({"plan": MapValue({}), "cost": MapValue({})})


@pytest.mark.parametrize("bomb", BOMBS)
def test_expensive_expression_exceeds_the_step_limit(bomb: str) -> None:
    start = time.process_time()

    found = answer(BOMBS[bomb])

    assert found.result == "cannot-tell"
    assert "needs more than" in found.message or "range" in found.message
    assert time.process_time() - start < 3  # generous: 0.1 s on an ordinary core


def test_step_count_is_deterministic() -> None:
    assert {answer(NESTED).steps for _ in range(3)} == {answer(NESTED).steps}
    assert answer("[1, 2, 3].all(x, x > 0)").steps < 100 < DEFAULT_BUDGET < RULE_BUDGET


def test_rule_stops_when_its_steps_for_all_objects_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dra_policies.configuration.custom import compiled_rule

    rule = CustomRule.model_validate(
        {"for": "claim", "expression": f"{TEN}.all(x, x < 10)", "message": "m"}
    )
    objects = [
        compiled_rule.PublishedObject(MapValue({}), f"claim {index}") for index in range(100)
    ]
    monkeypatch.setattr(compiled_rule.PublishedObjects, "of", lambda self, subject: iter(objects))
    monkeypatch.setattr(compiled_rule, "RULE_BUDGET", 1_000)

    found = list(CompiledRule(rule).findings(StackView()))

    assert found[-1].message.startswith(
        "the rule used all of its 1,000 steps, so it didn't check the objects after claim "
    )
    assert not any(each.certain for each in found)
    assert len(found) < 20


def test_types_of_variables_are_declared() -> None:
    from dra_policies.configuration.custom.object_types import OBJECT_TYPES, declarations

    for fields in OBJECT_TYPES.values():
        for field in fields.values():
            inner = field.type.parameters[-1] if field.type.parameters else field.type
            assert inner.name in OBJECT_TYPES or inner in (
                types.STRING,
                types.INT,
                types.BOOL,
                types.DOUBLE,
            )
    assert list(declarations("pool").variables) == ["plan", "cost", "pool"]
