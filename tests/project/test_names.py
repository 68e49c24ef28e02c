"""Words that have a single meaning in the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# CEL has its own terms for the result of a selector and the cost of a step
ELSEWHERE = ("planner/dra_planner/cel/",)


@pytest.mark.parametrize("name", ["Cluster", "Cost", "Finding", "Verdict"])
def test_word_names_only_one_thing(name: str) -> None:
    homes = []
    for role in ("planner", "policies", "command", "components", "sandbox", "tutorials"):
        for path in (ROOT / role).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            if not where.startswith(ELSEWHERE):
                homes += [
                    where
                    for node in ast.parse(path.read_text("utf-8")).body
                    if _declares(node, name)
                ]
    assert len(homes) == 1, homes


def _declares(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Assign) and any(
        isinstance(to, ast.Name) and to.id == name for to in node.targets
    )
