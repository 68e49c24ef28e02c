"""Comparisons of a version with text or a number, which fail on every device, and their correct
form.

Source: kubernetes/dynamic-resource-allocation:cel/compile.go@v0.36.2 (an attribute of type version
is a Semver).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from dra_planner.cel.syntax.printer import spell
from dra_planner.cel.tree import Call, Constant, SyntaxNode, walk

_OPERATORS: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_==_": "==", "_!=_": "!="}
_VERSION: Final = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?\.?")
_NAME: Final = re.compile(r"device\.attributes\[\"([^\"]+)\"\]\.(\w+)")
_SEARCHES: Final = frozenset({"startsWith", "matches", "contains", "endsWith"})


def as_versions(node: SyntaxNode) -> str:
    """Return a comparison with text or a number as a comparison of versions, or "" for any other
    expression.
    """
    if not isinstance(node, Call):
        return ""
    if node.function == "startsWith" and node.target is not None:
        read, begin = spell(node.target), _parts(node.args[0])
        return f"{read}.major() == {begin[0]}" if read and begin and begin[1:] == ("0", "0") else ""
    operator = _OPERATORS.get(node.function)
    if operator is None:
        return ""
    left, right = (_side(each) for each in node.args)
    if not left or not right:
        return ""
    if operator in ("==", "!="):
        return f"{left} == {right}" if operator == "==" else f"!({left} == {right})"
    return f"{left}.compareTo({right}) {operator} 0"


def compared_as_text(
    root: SyntaxNode, versions: Collection[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield each comparison of a version with text or a number, and its correct form ("" if it's
    unknown). `versions` are the version attributes, as domain and name.
    """
    for node in walk(root):
        if isinstance(node, Call) and (node.function in _OPERATORS or node.function in _SEARCHES):
            sides = node.children()
            is_read = any(
                _NAME.fullmatch(spell(each) or "") and _read(each) in versions for each in sides
            )
            if is_read and any(isinstance(each, Constant) for each in sides):
                yield spell(node) or "", as_versions(node)


def _read(node: SyntaxNode) -> tuple[str, str]:
    found = _NAME.fullmatch(spell(node) or "")
    return (found[1], found[2]) if found is not None else ("", "")


def _side(node: SyntaxNode) -> str:
    """Return an operand, with a literal converted to a version."""
    if not isinstance(node, Constant):
        return spell(node) or ""
    parts = _parts(node)
    return f'semver("{".".join(parts)}")' if parts else ""


def _parts(node: SyntaxNode) -> tuple[str, str, str] | None:
    found = _VERSION.fullmatch(str(node.value)) if isinstance(node, Constant) else None
    return (found[1], found[2] or "0", found[3] or "0") if found is not None else None
