"""The steps from text to selector: parse, check, plan, estimate."""

from __future__ import annotations

from dra_planner.cel import advice, slips
from dra_planner.cel.calls import Unsupported
from dra_planner.cel.checker import check
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.estimate import estimate
from dra_planner.cel.evaluator import compile_tree
from dra_planner.cel.overloads import has_lists_extension
from dra_planner.cel.parser import ParseError, parse
from dra_planner.cel.reads import paths_read
from dra_planner.cel.selector import MAX_ESTIMATE, Kind, Refused, Selector
from dra_planner.cel.state import room_for
from dra_planner.cel.tree import Node, depth
from dra_planner.cel.types import Type, TypesTooLarge
from dra_planner.cel.validation import Issue
from dra_planner.cel.values import CelError, Panic

_MAX_ISSUES = 10


def compile_text(text: str, dialect: Dialect) -> Selector | Refused:
    """The selector of a text of admissible length, or why it is refused."""
    try:
        tree = parse(text, has_lists_extension(dialect), with_backquotes=dialect.minor >= 37)
    except ParseError as error:
        kind: Kind = "depth" if error.deep else "syntax"
        fix = None if error.deep else slips.advise(text)
        return Refused(text, kind, f"compilation failed: {error.message}", error.position, fix)
    with room_for(depth(tree)):
        return _compile_tree(text, dialect, tree)


def _compile_tree(text: str, dialect: Dialect, tree: Node) -> Selector | Refused:
    try:
        issues = check(tree, dialect)
    except TypesTooLarge:
        return Refused(text, "depth", "the types in the expression grow too large", 0)
    if issues:
        return _refuse(text, issues, dialect)
    wrong = _wrong_result(tree.type, dialect)
    if wrong:
        return Refused(text, "type", wrong, 0, advice.for_result(tree))
    try:
        closure, slots = compile_tree(tree, dialect)
    except (CelError, Panic) as error:
        return Refused(text, "type", f"program instantiation failed: {error}", 0)
    except Unsupported as error:
        return Refused(text, "unsupported", str(error), 0)
    cost = estimate(tree, dialect)
    if cost > MAX_ESTIMATE and dialect.environment == "new":
        return Refused(text, "cost", f"too complex, exceeds cost limit: estimated {cost}", 0, advice.for_cost(tree))
    return Selector(text, dialect, tree, closure, slots, cost, paths_read(tree))


def _refuse(text: str, issues: list[Issue], dialect: Dialect) -> Refused:
    unsupported = next((issue for issue in issues if issue.unsupported), None)
    if unsupported is not None:
        return Refused(text, "unsupported", unsupported.message, unsupported.position)
    messages = dict.fromkeys(issue.message for issue in issues[:_MAX_ISSUES])
    fixes = (advice.for_node(issue.node, issue.message, dialect) for issue in issues)
    fix = next((f for f in fixes if f is not None), None)
    return Refused(text, "type", "compilation failed: " + "; ".join(messages), issues[0].position, fix)


def _wrong_result(result: Type, dialect: Dialect) -> str:
    if result.kind in ("bool", "any") or (result.kind == "dyn" and dialect.dynamic_attributes):
        return ""
    return f"must evaluate to bool or the unknown type, not {result}"
