"""Convert a tree back to an expression, for advice that contains expressions."""

from __future__ import annotations

import json
import re
from typing import Final

from dra_planner.cel.tree import Call, Constant, Ident, ListNode, Select, SyntaxNode
from dra_planner.cel.values import Uint

_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_OPERATOR: Final = re.compile(r"_(\S+)_")
MAX_LENGTH: Final = 300


def spell(node: SyntaxNode) -> str | None:
    """Return the expression of the tree in the usual notation, or None for results of macros and
    for long expressions.
    """
    try:
        text = _spell(node)
    except _UnspeltError:
        return None
    return text if len(text) <= MAX_LENGTH else None


class _UnspeltError(Exception):
    pass


def _spell(node: SyntaxNode, levels: int = 12) -> str:
    if levels == 0:
        raise _UnspeltError
    if isinstance(node, Constant):
        return literal(node.value)
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select):
        operand = _operand(node.operand, levels)
        text = (
            f"{operand}.{node.field}"
            if _IDENTIFIER.fullmatch(node.field)
            else f"{operand}[{literal(node.field)}]"
        )
        return f"has({text})" if node.test else text
    if isinstance(node, ListNode) and not node.optional:
        return f"[{', '.join([_spell(element, levels - 1) for element in node.elements])}]"
    if isinstance(node, Call):
        return _spell_call(node, levels)
    raise _UnspeltError


def _spell_call(node: Call, levels: int) -> str:
    if node.function == "_?_:_" or node.function.startswith("@"):
        raise _UnspeltError
    if node.function == "_[_]":
        return f"{_operand(node.args[0], levels)}[{_spell(node.args[1], levels - 1)}]"
    if node.function == "_?._" and isinstance(node.args[1], Constant):
        return f"{_operand(node.args[0], levels)}.?{node.args[1].value}"
    if node.function in ("!_", "-_"):
        return node.function[0] + _operand(node.args[0], levels)
    operator = _OPERATOR.fullmatch(node.function)
    if operator:
        return f" {operator[1]} ".join([_operand(argument, levels) for argument in node.args])
    arguments = ", ".join([_spell(argument, levels - 1) for argument in node.args])
    target = "" if node.target is None else f"{_operand(node.target, levels)}."
    return f"{target}{node.function}({arguments})"


def _operand(node: SyntaxNode, levels: int) -> str:
    text = _spell(node, levels - 1)
    is_operator = (
        isinstance(node, Call)
        and node.function[:1] in ("_", "!", "-")
        and node.function not in _READS
    )
    return f"({text})" if is_operator else text


_READS: Final = ("_[_]", "_?._", "_[?_]")


def literal(value: object) -> str:
    """Return the literal of a constant."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise _UnspeltError
