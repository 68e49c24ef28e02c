"""Functions fit on a screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner", "components", "policies", "command", "sandbox")
MOST_LINES = 60
LONGER = {
    "command/dra_command/findings/evaluation.py:find_violations",
    "command/dra_command/inputs/command_inputs.py:read_inputs",
    "command/dra_command/mcp/server.py:make_server",
    "command/dra_command/plan_report/html/page.py:_context",
    "command/dra_command/verify/run.py:run",
    "planner/dra_planner/claims/quotas.py:split",
    "planner/dra_planner/plan/judgement/judge.py:judge",
    "planner/dra_planner/plan/planning.py:size_plan",
    "planner/dra_planner/simulation/preparation.py:prepare",
    "planner/dra_planner/sizing/sizing.py:size",
}
"""Functions that are still longer. Remove a name when its function is split, and add none."""


def test_no_further_function_is_longer_than_a_screen() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{function.name}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for function in _functions(path.read_text())
        if (function.end_lineno or 0) - function.lineno + 1 > MOST_LINES
    }

    assert found == LONGER


def _functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
