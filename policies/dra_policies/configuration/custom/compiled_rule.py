"""A compiled custom rule and its findings among the published objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from dra_planner.cel import Dialect, RejectedSelector, types
from dra_planner.cel.expression import (
    DEFAULT_BUDGET,
    Expression,
    ExpressionValue,
    compile_expression,
)
from dra_planner.cel.tree import Ident, Select, SyntaxNode, walk
from dra_planner.cel.types import CelType
from dra_planner.cel.values import MapValue
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_policies.configuration.custom.object_types import declarations, needs_pools
from dra_policies.configuration.custom.published_objects import PublishedObject, PublishedObjects
from dra_policies.configuration.custom.rule_schema import CustomRule
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

RULE_BUDGET: Final = 2_000_000
"""Maximum number of steps that one rule uses on all objects together."""
PAGE: Final = "docs/reference/custom-rules.md"
_SHORT: Final = 60
"""Maximum length of an expression in a message, in characters."""
_MOST_VALUES: Final = 4
_DIALECT: Final = Dialect.of(features_of(MAXIMUM_MINOR))

Result = Literal["pass", "fail", "skip", "cannot-tell"]


class ExpressionFault(Exception):
    """An expression that can't be compiled: the key, the reason with its position, and a fix."""

    def __init__(self, key: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.key, self.message, self.fix = key, message, fix


class RuleAnswer(Struct, frozen=True):
    """A rule's answer about one object, the reason unless it's "pass" or "skip", and the steps that
    it used.

    `fix` explains how to correct an expression that fails. If the expression is false, `details`
    contains the expression and the values that it reads.
    """

    result: Result
    message: str = ""
    steps: int = 0
    fix: str = ""
    details: str = ""


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
        """Whether the rule reads values that exist only with a fleet, a stack, or a snapshot."""
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
        return RuleAnswer("fail", message, steps, details=self._details(values))

    def _details(self, values: Mapping[str, Any]) -> str:
        """Return the values that the expression reads, and the expression itself if it's short."""
        selects = (node for node in walk(self._expression.tree) if isinstance(node, Select))
        read = {str(path): value for path, value in _scalars(selects, values)}
        shown = [f"{path} is {_shown(value)}" for path, value in list(read.items())[:_MOST_VALUES]]
        text = " ".join(self.rule.expression.split())
        required = f"required: {text}" if len(text) <= _SHORT else ""
        return "; ".join(filter(None, [required, ", ".join(shown)]))

    def applies(self, view: StackView) -> bool:
        """Return whether `when` may be true for an object. If `when` contains a typo or is intended
        for other stacks, it's false for all objects.
        """
        if self._when is None:
            return True
        published = PublishedObjects(view)
        return any(
            self._when.evaluate(self._values(published, each), DEFAULT_BUDGET).value is not False
            for each in published.of(self.rule.subject)
        )

    def _values(self, published: PublishedObjects, each: PublishedObject) -> dict[str, Any]:
        return {"plan": published.plan, "cost": published.cost, self.rule.subject: each.value}

    def findings(self, view: StackView) -> Iterator[Finding]:
        """Yield a finding for each object that breaks the rule, or that the rule can't evaluate."""
        if view.is_early or (self.needs_pools and view.plan is None):
            # the whole stack is checked at the end, and without pools there is nothing to check
            return
        published, left = PublishedObjects(view), RULE_BUDGET
        for each in published.of(self.rule.subject):
            answer = self.answer(self._values(published, each), left)
            left -= answer.steps
            if answer.result in ("fail", "cannot-tell"):
                yield self._finding(each, answer)
            if left <= 0:
                message = (
                    f"the rule used all of its {RULE_BUDGET:,} steps, so it didn't check the "
                    f"objects after {each.name}"
                )
                yield Finding(
                    message=message,
                    fix="simplify the rule's expression",
                    certain=False,
                    urn=view.judged_urn,
                )
                return

    def _shown_details(self, answer: RuleAnswer) -> str:
        """Return the details of a failed rule, unless its own message has values."""
        return f" ({answer.details})" if answer.details and self._message is None else ""

    def _finding(self, each: PublishedObject, answer: RuleAnswer) -> Finding:
        return Finding(
            message=f"{each.name}: {answer.message}{self._shown_details(answer)}",
            fix=self.rule.fix if answer.result == "fail" else answer.fix,
            certain=answer.result == "fail",
            place=each.place,
            urn=each.urn,
            about=each.name,
        )


def custom_rule(id: str, rule: CustomRule) -> Rule:
    """Return a project's rule in the same form as the built-in rules. Raises ExpressionFault."""
    compiled = CompiledRule(rule)
    return Rule(
        id=id,
        description=rule.message,
        why="Your project's configuration defines this rule.",
        fix=rule.fix or "Change the object or the rule.",
        level="advisory" if rule.level == "advisory" else "mandatory",
        url=PAGE,
        needs="pools" if compiled.needs_pools else "",
        is_on=rule.level != "disabled",
        check=compiled.findings,
        applies=compiled.applies,
    )


def _compiled(rule: CustomRule, key: str, text: str, result: CelType) -> Expression:
    found = compile_expression(text, _DIALECT, declarations(rule.subject), result)
    if isinstance(found, RejectedSelector):
        raise ExpressionFault(
            key, f"{found.message} ({_position(text, found.offset)})", found.fix or ""
        )
    return found


def _position(text: str, offset: int) -> str:
    """Return the position of an offset in the expression (with the line only if there are several),
    and the text at this position.
    """
    before = text[:offset]
    line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
    where = f"line {line}, column {column}" if "\n" in text.strip() else f"column {column}"
    here = text[offset:].partition("\n")[0].strip()
    shown = here if len(here) <= _SHORT else f"{here[:_SHORT]}…"
    return f"{where} of the expression{f', at `{shown}`' if shown else ''}"


def _scalars(
    selects: Iterable[Select], values: Mapping[str, Any]
) -> Iterator[tuple[str, str | int | float | bool]]:
    """Yield the fields in variables that contain single values, with their paths."""
    for select in selects:
        path: list[str] = []
        node: SyntaxNode = select
        while isinstance(node, Select) and not node.test:
            path.insert(0, node.field)
            node = node.operand
        value = values.get(node.name) if isinstance(node, Ident) else None
        for field in path:
            value = dict(value.entries.values()).get(field) if isinstance(value, MapValue) else None
        if isinstance(node, Ident) and isinstance(value, str | int | float | bool):
            yield ".".join([node.name, *path]), value


def _shown(value: str | int | float | bool) -> str:
    """Return a value as written in an expression. Numbers have at most two decimals."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f'"{value}"' if isinstance(value, str) else str(value)


def _doubt(key: str, found: ExpressionValue, steps: int) -> RuleAnswer:
    fix = ""
    match found.state:
        case "unknown":
            message = f"the result is unknown, because {found.message} is unknown"
        case "exhausted":
            message, fix = (
                f"the result is unknown, because the rule's {key} needs {found.message}",
                "simplify the expression",
            )
        case _:
            message, fix = (
                f"the result is unknown, because the rule's {key} fails: {found.message}",
                "correct the expression",
            )
            if found.message.startswith("no such key"):
                fix += '. If a key can be missing, use, for example, labels[?"team"].orValue("")'
    return RuleAnswer("cannot-tell", message, steps, fix)
