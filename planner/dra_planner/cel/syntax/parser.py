"""Parse a text to a tree."""

from __future__ import annotations

import threading
from functools import cache

from dra_planner.cel.dialect import Dialect
from dra_planner.cel.syntax.automaton import Automaton, Unexpected
from dra_planner.cel.syntax.builder import ParseError, Subtree, TreeBuilder
from dra_planner.cel.syntax.tables import read_tables
from dra_planner.cel.tree import Constant, SyntaxNode
from dra_planner.cel.values import INT_MAX, INT_MIN, UINT_MAX, Uint

_lock = threading.Lock()
_builder = TreeBuilder()


@cache
def _automaton() -> Automaton:
    return Automaton(read_tables(), _builder)


def parse(text: str, dialect: Dialect) -> SyntaxNode:
    """Return the tree of an expression with expanded macros. Raises `ParseError`."""
    with _lock:
        _builder.with_lists = dialect.has_lists_extension
        _builder.with_backquotes = dialect.library.backquoted_fields
        _builder.nodes, _builder.numbers = 0, []
        try:
            part: Subtree = _automaton().parse(text)
        except Unexpected as error:
            raise ParseError(_explain(error), error.position) from None
        numbers = _builder.numbers
    _check_numbers(numbers)
    return part.node


def _explain(error: Unexpected) -> str:
    if error.word is not None:
        return f"Syntax error: mismatched input '{error.word}'"
    return f"Syntax error: token recognition error at: '{error.character}'"


def _check_numbers(numbers: list[Constant]) -> None:
    for number in numbers:
        kind = number.value.__class__
        if kind is int and not INT_MIN <= number.value <= INT_MAX:
            raise ParseError("invalid int literal", number.position)
        if kind is Uint and number.value > UINT_MAX:
            raise ParseError("invalid uint literal", number.position)
        if kind is float and number.value in (float("inf"), float("-inf")):
            raise ParseError("invalid double literal", number.position)


__all__ = ["ParseError", "parse"]
