"""Expressions over declared variables, such as the custom rules of a project.

The language is the same as for selectors, but with other variables than `device`. The outcomes are
also the same: an unknown value makes the result *unknown*, unless `&&`, `||`, or a condition makes
it irrelevant. Cost is counted in the steps of Kubernetes' CEL cost, so an evaluation ends after the
same number of steps on every machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, Final, Literal

from msgspec import Struct

from dra_planner.cel.advice import fixes, foreign_syntax
from dra_planner.cel.checking.checker import check
from dra_planner.cel.cost.effort import METER, EffortExceeded
from dra_planner.cel.device import EMPTY
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation.calls import Unsupported
from dra_planner.cel.evaluation.evaluator import compile_tree
from dra_planner.cel.evaluation.state import Closure, State, run_deep
from dra_planner.cel.results import RejectedSelector
from dra_planner.cel.stack_depth import DEEPEST, SHALLOW, room_for
from dra_planner.cel.syntax.parser import ParseError, parse
from dra_planner.cel.tree import Ident, Select, SyntaxNode, depth
from dra_planner.cel.types import DYN, CelType, TypesTooLarge, show
from dra_planner.cel.values import CelError, CostExceeded, Panic, UnknownError, UnknownValue
from dra_planner.cel.variable_types import VariableTypes

MAX_LENGTH: Final = 10_240
"""Maximum number of bytes of one expression, as in a DeviceClass."""
DEFAULT_BUDGET: Final = 100_000
"""Maximum number of steps of one evaluation."""

ValueState = Literal["value", "unknown", "error", "exhausted"]


class ExpressionValue(Struct, frozen=True):
    """The result of an expression: a value, the unknown values, an error, or the information that
    its steps ran out. `cost` is the number of steps used.
    """

    state: ValueState
    value: Any = None
    message: str = ""
    cost: int = 0


class Expression:
    """A compiled expression. `tree` is its checked tree."""

    __slots__ = ("_closure", "_slots", "_variables", "text", "tree")

    def __init__(
        self, text: str, tree: SyntaxNode, closure: Closure, slots: int, variables: tuple[str, ...]
    ) -> None:
        levels = depth(tree)
        self.text, self.tree = text, tree
        self._closure = closure if levels <= SHALLOW else run_deep(closure, levels)
        self._slots, self._variables = slots, variables

    def evaluate(self, values: Mapping[str, Any], budget: int = DEFAULT_BUDGET) -> ExpressionValue:
        """Return the result for these values of the variables, in at most `budget` steps. A
        variable without a value is unknown.
        """
        try:
            return self._evaluate(values, budget)
        except RecursionError:  # deeply nested values, or a caller whose stack is already deep
            with room_for(DEEPEST):
                return self._evaluate(values, budget)

    def _evaluate(self, values: Mapping[str, Any], budget: int) -> ExpressionValue:
        METER.spent = 0
        state = State(EMPTY, {}, self._slots, budget)
        for slot, name in enumerate(self._variables):
            state.variables[slot] = values.get(name, UnknownValue(name))
        try:
            value = self._closure(state)
        except CelError as error:
            return ExpressionValue("error", message=error.message, cost=state.cost)
        except UnknownError as error:
            return ExpressionValue(
                "unknown", message=", ".join(sorted(error.paths)), cost=state.cost
            )
        except (CostExceeded, EffortExceeded):
            return ExpressionValue(
                "exhausted", message=f"more than {budget:,} steps", cost=max(state.cost, budget)
            )
        except Panic as error:
            return ExpressionValue("error", message=f"internal error: {error}", cost=state.cost)
        if state.cost > budget:
            return ExpressionValue(
                "exhausted", message=f"more than {budget:,} steps", cost=state.cost
            )
        if isinstance(value, UnknownValue):
            return ExpressionValue("unknown", message=value.path, cost=state.cost)
        return ExpressionValue("value", value, cost=state.cost)


def compile_expression(
    text: str, dialect: Dialect, declared: VariableTypes, result: CelType
) -> Expression | RejectedSelector:
    """Compile an expression with this result type, or return why it can't be compiled."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_LENGTH:
        return RejectedSelector(
            text,
            "length",
            f"is longer than {MAX_LENGTH} bytes",
            MAX_LENGTH,
            "split it into several rules",
        )
    METER.spent = 0
    try:
        tree = parse(text, dialect)
    except ParseError as error:
        fix = None if error.deep else foreign_syntax.advise(text, dialect)
        return RejectedSelector(
            text, "depth" if error.deep else "syntax", error.message, error.position, fix
        )
    with room_for(depth(tree)):
        return _compile_tree(text, tree, dialect, declared, result)


def _compile_tree(
    text: str, tree: SyntaxNode, dialect: Dialect, declared: VariableTypes, result: CelType
) -> Expression | RejectedSelector:
    try:
        issues = check(tree, dialect, declared)
    except TypesTooLarge:
        return RejectedSelector(text, "depth", "the types in the expression grow too large")
    if issues:
        first = issues[0]
        return RejectedSelector(
            text,
            "type",
            first.message,
            first.position,
            _advice(first.node, first.message, dialect, declared),
        )
    if tree.type not in (result, DYN):
        return RejectedSelector(
            text, "type", f"must evaluate to {show(result)}, not {show(tree.type)}"
        )
    variables = tuple(declared.variables)
    try:
        closure, slots = compile_tree(tree, dialect, variables)
    except (CelError, Panic) as error:
        return RejectedSelector(text, "type", str(error))
    except Unsupported as error:
        return RejectedSelector(text, "unsupported", str(error))
    return Expression(text, tree, closure, slots, variables)


def _advice(
    node: SyntaxNode, message: str, dialect: Dialect, declared: VariableTypes
) -> str | None:
    if isinstance(node, Select):
        return _near_name(node.field, declared.objects.get(node.operand.type.name, {}), "fields")
    if isinstance(node, Ident):
        return _near_name(node.name, declared.variables, "variables")
    advice = fixes.for_node(node, message, dialect)
    return None if advice is None or "device" in advice else advice


def _near_name(name: str, known: Collection[str], what: str) -> str | None:
    close = get_close_matches(name, list(known), n=1)
    if close:
        return f"use {close[0]}"
    return f"{what}: {', '.join(known)}" if known else None
