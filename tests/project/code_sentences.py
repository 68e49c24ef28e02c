"""The sentences in strings of code: messages, fixes, help, and descriptions, without docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from project.english_habits import Sentence

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
_WRAPPED = re.compile(r"(?<=[a-z,`)])\n(?=[a-z`(])")
"""A line break within a sentence of a page."""
_END = re.compile(r"(?<=[.!?])\s+|\n")


def code_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences in the strings of a Python file. Values, code spans, and quoted text
    become X.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(node.value)  # a docstring
        if isinstance(node, ast.JoinedStr):
            skipped.update(each for each in node.values if isinstance(each, ast.Constant))
        if node not in skipped and isinstance(node, ast.Constant | ast.JoinedStr):
            for text in _END.split(_QUOTED.sub("X", _WRAPPED.sub(" ", _written(node)))):
                if " " in text.strip() and len(re.findall(r"[A-Za-z]{2,}", text)) > 1:
                    yield Sentence(node.lineno, text)


def _written(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            each.value if isinstance(each, ast.Constant) else "X" for each in node.values
        )
    return node.value if isinstance(node.value, str) else ""
