"""The steps from a text to a selector: parse, check, compile to closures, and estimate the cost."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from dra_planner.cel.advice import fixes, foreign_syntax
from dra_planner.cel.checking.checker import check
from dra_planner.cel.checking.read_paths import paths_read
from dra_planner.cel.checking.validation import Issue
from dra_planner.cel.cost.effort import METER
from dra_planner.cel.cost.estimator import estimate
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation.calls import Unsupported
from dra_planner.cel.evaluation.evaluator import compile_tree
from dra_planner.cel.results import Kind, RejectedSelector
from dra_planner.cel.selector import Selector
from dra_planner.cel.stack_depth import DEEPEST, room_for
from dra_planner.cel.syntax.parser import ParseError, parse
from dra_planner.cel.tree import SyntaxNode, depth
from dra_planner.cel.types import CelType, TypesTooLarge
from dra_planner.cel.values import CelError, Panic

MAX_LENGTH: Final = 10_240
MAX_ESTIMATE: Final = 1_000_000
_MAX_ISSUES: Final = 10


@lru_cache(maxsize=256)
def compile(text: str, dialect: Dialect) -> Selector | RejectedSelector:
    """Compile a selector in a dialect, or return why it is rejected."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_LENGTH:
        message = f"Too long: may not be more than {MAX_LENGTH} bytes"
        return RejectedSelector(
            text,
            "length",
            message,
            MAX_LENGTH,
            "split the condition into several selectors, which must all match",
        )
    METER.spent = 0
    try:
        return _compile(text, dialect)
    except RecursionError:  # the caller's stack is already deep
        METER.spent = 0
        with room_for(DEEPEST):
            return _compile(text, dialect)


def _compile(text: str, dialect: Dialect) -> Selector | RejectedSelector:
    try:
        tree = parse(text, dialect)
    except ParseError as error:
        kind: Kind = "depth" if error.deep else "syntax"
        fix = None if error.deep else foreign_syntax.advise(text, dialect)
        return RejectedSelector(
            text, kind, f"compilation failed: {error.message}", error.position, fix
        )
    with room_for(depth(tree)):
        return _compile_tree(text, dialect, tree)


def _compile_tree(text: str, dialect: Dialect, tree: SyntaxNode) -> Selector | RejectedSelector:
    try:
        issues = check(tree, dialect)
    except TypesTooLarge:
        return RejectedSelector(text, "depth", "the types in the expression grow too large", 0)
    if issues:
        return _refuse(text, issues, dialect)
    wrong = _wrong_result(tree.type, dialect)
    if wrong:
        return RejectedSelector(text, "type", wrong, 0, fixes.for_result(tree))
    try:
        closure, slots = compile_tree(tree, dialect)
    except (CelError, Panic) as error:
        return RejectedSelector(text, "type", f"program instantiation failed: {error}", 0)
    except Unsupported as error:
        return RejectedSelector(text, "unsupported", str(error), 0)
    cost = estimate(tree, dialect)
    if cost > MAX_ESTIMATE and dialect.environment == "new":
        return RejectedSelector(
            text,
            "cost",
            f"too complex, exceeds cost limit: estimated {cost}",
            0,
            fixes.for_cost(tree),
        )
    return Selector(text, dialect, tree, closure, slots, cost, paths_read(tree))


def _refuse(text: str, issues: list[Issue], dialect: Dialect) -> RejectedSelector:
    unsupported = next((issue for issue in issues if issue.unsupported), None)
    if unsupported is not None:
        return RejectedSelector(text, "unsupported", unsupported.message, unsupported.position)
    messages = dict.fromkeys(issue.message for issue in issues[:_MAX_ISSUES])
    advised = (fixes.for_node(issue.node, issue.message, dialect) for issue in issues)
    fix = next((fix for fix in advised if fix is not None), None)
    return RejectedSelector(
        text, "type", "compilation failed: " + "; ".join(messages), issues[0].position, fix
    )


def _wrong_result(result: CelType, dialect: Dialect) -> str:
    if result.kind in ("bool", "any") or (result.kind == "dyn" and dialect.dynamic_attributes):
        return ""
    return f"must evaluate to bool or the unknown type, not {result}"
