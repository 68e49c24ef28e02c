"""Functions fit on a screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner", "components", "policies", "command", "sandbox")
MOST_LINES = 60


def test_no_function_is_longer_than_a_screen() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{function.name}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for function in _functions(path.read_text())
        if (function.end_lineno or 0) - function.lineno + 1 > MOST_LINES
    }

    assert found == set()


def _functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
