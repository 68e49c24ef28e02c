"""A compiled custom rule and its findings among the published objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from dra_planner.cel import Dialect, RejectedSelector, types
from dra_planner.cel.expression import (
    DEFAULT_BUDGET,
    Expression,
    ExpressionValue,
    compile_expression,
)
from dra_planner.cel.tree import Select, walk
from dra_planner.cel.types import CelType
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_policies.configuration.custom.object_types import declarations, needs_pools
from dra_policies.configuration.custom.published_objects import PublishedObject, PublishedObjects
from dra_policies.configuration.custom.rule_schema import CustomRule
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

RULE_BUDGET: Final = 2_000_000
"""Steps of one rule on all objects together."""
PAGE: Final = "docs/reference/custom-rules.md"
_DIALECT: Final = Dialect.of(features_of(MAXIMUM_MINOR))

Result = Literal["pass", "fail", "skip", "cannot-tell"]


class ExpressionFault(Exception):
    """An expression that can't be compiled: the key, the reason with its position, and a fix."""

    def __init__(self, key: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.key, self.message, self.fix = key, message, fix


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """A rule's answer about one object, the reason unless it's "pass" or "skip", and the steps that
    it used.

    `fix` explains how to correct an expression that fails.
    """

    result: Result
    message: str = ""
    steps: int = 0
    fix: str = ""


class CompiledRule:
    """The expressions of a rule. Raises ExpressionFault for an expression that can't be
    compiled.
    """

    def __init__(self, rule: CustomRule) -> None:
        self.rule = rule
        self._when = _compiled(rule, "when", rule.when, types.BOOL) if rule.when else None
        self._expression = _compiled(rule, "expression", rule.expression, types.BOOL)
        text = rule.message_expression
        self._message = _compiled(rule, "messageExpression", text, types.STRING) if text else None

    @property
    def needs_pools(self) -> bool:
        """Whether it reads values that only a fleet, a stack, or a snapshot has."""
        trees = [
            each.tree for each in (self._when, self._expression, self._message) if each is not None
        ]
        selects = [node for tree in trees for node in walk(tree) if isinstance(node, Select)]
        return self.rule.subject == "pool" or needs_pools(
            (node.operand.type.name, node.field) for node in selects
        )

    def answer(self, values: Mapping[str, Any], budget: int = RULE_BUDGET) -> RuleAnswer:
        """Return the rule's answer about one object, using at most `budget` steps."""
        steps = 0
        if self._when is not None:
            applies = self._when.evaluate(values, min(DEFAULT_BUDGET, budget))
            steps = applies.cost
            if applies.value is not True:
                return (
                    RuleAnswer("skip", steps=steps)
                    if applies.value is False
                    else _doubt("when", applies, steps)
                )
        holds = self._expression.evaluate(values, min(DEFAULT_BUDGET, budget - steps))
        steps += holds.cost
        if holds.value is True:
            return RuleAnswer("pass", steps=steps)
        if holds.value is not False:
            return _doubt("expression", holds, steps)
        message = self.rule.message
        if self._message is not None:
            worded = self._message.evaluate(values, min(DEFAULT_BUDGET, budget - steps))
            steps += worded.cost
            message = (
                worded.value if isinstance(worded.value, str) and worded.value.strip() else message
            )
        return RuleAnswer("fail", message, steps)

    def findings(self, view: StackView) -> Iterator[Finding]:
        """Yield a finding for each object that breaks the rule, or that the rule can't evaluate."""
        if view.is_early or (self.needs_pools and view.plan is None):
            # the whole stack is checked at its end; without pools there is nothing to look at
            return
        published, left = PublishedObjects(view), RULE_BUDGET
        for each in published.of(self.rule.subject):
            values = {"plan": published.plan, "cost": published.cost, self.rule.subject: each.value}
            answer = self.answer(values, left)
            left -= answer.steps
            if answer.result in ("fail", "cannot-tell"):
                yield self._finding(each, answer)
            if left <= 0:
                message = (
                    f"the rule used its {RULE_BUDGET:,} steps, so the objects after "
                    f"{each.name} aren't checked"
                )
                yield Finding(
                    message=message,
                    fix="simplify its expression",
                    certain=False,
                    urn=view.judged_urn,
                )
                return

    def _finding(self, each: PublishedObject, answer: RuleAnswer) -> Finding:
        return Finding(
            message=f"{each.name}: {answer.message}",
            fix=self.rule.fix if answer.result == "fail" else answer.fix,
            certain=answer.result == "fail",
            place=each.place,
            urn=each.urn,
            about=each.name,
        )


def custom_rule(id: str, rule: CustomRule) -> Rule:
    """Return a project's rule in the form of the built-in rules. Raises ExpressionFault."""
    compiled = CompiledRule(rule)
    return Rule(
        id=id,
        says=rule.message,
        why="Your project's configuration defines this rule.",
        fix=rule.fix or "Change the object, or the rule.",
        level="advisory" if rule.level == "advisory" else "mandatory",
        url=PAGE,
        needs="pools" if compiled.needs_pools else "",
        is_on=rule.level != "disabled",
        check=compiled.findings,
    )


def _compiled(rule: CustomRule, key: str, text: str, result: CelType) -> Expression:
    found = compile_expression(text, _DIALECT, declarations(rule.subject), result)
    if isinstance(found, RejectedSelector):
        raise ExpressionFault(
            key, f"{found.message} ({_position(text, found.offset)})", found.fix or ""
        )
    return found


def _position(text: str, offset: int) -> str:
    """Return the position of an offset, with the line only if there are several."""
    before = text[:offset]
    line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
    return f"line {line}, column {column}" if "\n" in text.strip() else f"column {column}"


def _doubt(key: str, found: ExpressionValue, steps: int) -> RuleAnswer:
    fix = ""
    match found.state:
        case "unknown":
            message = f"the rule can't tell, because {found.message} is unknown"
        case "exhausted":
            message, fix = (
                f"the rule can't tell, because its {key} needs {found.message}",
                "simplify the expression",
            )
        case _:
            message, fix = (
                f"the rule can't tell, because its {key} fails: {found.message}",
                "correct the expression",
            )
            if found.message.startswith("no such key"):
                fix += (
                    ', for example with labels[?"team"].orValue("") for a key that may be missing'
                )
    return RuleAnswer("cannot-tell", message, steps, fix)
