"""Check the literals in a tree without type errors: elements must have one type, and durations,
timestamps, patterns, and format strings must be valid. Source of the behavior:
google/cel-go:cel/validator.go, ext/formatting.go @v0.26.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.cel import types
from dra_planner.cel.libraries.conversions import FUNCTIONS
from dra_planner.cel.libraries.formatting import TYPES, clauses, wrong_clause
from dra_planner.cel.libraries.regex import compile_pattern
from dra_planner.cel.tree import Call, Constant, ListNode, MapNode, SyntaxNode
from dra_planner.cel.types import CelType, show
from dra_planner.cel.values import CelError


class Issue(Struct, frozen=True):
    """A type error. `position` is its offset in the expression, and `node` is the node there."""

    message: str
    position: int
    node: SyntaxNode
    unsupported: bool = False


def validate(root: SyntaxNode) -> Iterator[Issue]:
    """Return the errors that upstream's validators find in a tree without type errors."""
    pending = [(root, False)]
    while pending:
        node, formatted = pending.pop()
        formatted = formatted or _formats(node)
        pending.extend((child, formatted) for child in reversed(node.children()))
        if isinstance(node, Call):
            yield from _call(node)
        elif formatted:
            continue
        elif isinstance(node, ListNode):
            yield from _same_types(
                [(e, _literal_type(e, i in node.optional)) for i, e in enumerate(node.elements)]
            )
        elif isinstance(node, MapNode):
            yield from _same_types([(k, k.type) for k, _, _ in node.entries])
            yield from _same_types([(v, _literal_type(v, o)) for _, v, o in node.entries])


def _formats(node: SyntaxNode) -> bool:
    return isinstance(node, Call) and node.function == "format"


def _literal_type(node: SyntaxNode, optional: bool) -> CelType:
    return types.unwrap_optional(node.type)[0] if optional else node.type


def _same_types(elements: list[tuple[SyntaxNode, CelType]]) -> Iterator[Issue]:
    for node, t in elements[1:]:
        if elements[0][1] != t:
            yield Issue(
                f"expected type '{show(elements[0][1])}' but found '{show(t)}'", node.position, node
            )
            return


def _call(node: Call) -> Iterator[Issue]:
    literal = node.args[0] if node.args else None
    if node.function in ("duration", "timestamp", "matches") and isinstance(literal, Constant):
        if not _is_readable(node.function, literal.value):
            yield Issue(f"invalid {node.function} argument", literal.position, literal)
    elif (
        node.function == "format"
        and isinstance(node.target, Constant)
        and isinstance(literal, ListNode)
    ):
        yield from _format(node, str(node.target.value), literal)


def _is_readable(function: str, value: object) -> bool:
    try:
        if function == "matches":
            compile_pattern(str(value))
        else:
            kind = {str: "string", int: "int64"}.get(value.__class__, "")
            if not kind:  # null can stand for either type, but is neither
                return False
            FUNCTIONS[f"{kind}_to_{function}"](value)
    except CelError:
        return False
    return True


def _format(node: Call, text: str, values: ListNode) -> Iterator[Issue]:
    try:
        found = clauses(text, len(values.elements))
    except CelError as error:
        yield Issue(error.message, node.position, node)
        return
    letters = [letter for _, letter, _ in found if letter]
    for letter, value in zip(letters, values.elements, strict=False):
        wrong = _unformattable(letter, value)
        if wrong is not None:
            yield Issue(
                f"error during formatting: {wrong_clause(letter, wrong.type.name)}",
                value.position,
                value,
            )
            return
    if len(values.elements) > len(letters):
        message = (
            f"too many arguments supplied to string.format (expected {len(letters)}, got "
            f"{len(values.elements)})"
        )
        yield Issue(message, node.position, node)


def _unformattable(letter: str, value: SyntaxNode) -> SyntaxNode | None:
    """Return the part of a value that the clause doesn't accept."""
    if value.type.kind != "dyn" and value.type.name not in TYPES[letter]:
        return value
    if letter == "s" and isinstance(value, ListNode | MapNode):
        return next(
            (w for w in (_unformattable(letter, v) for v in value.children()) if w is not None),
            None,
        )
    return None
