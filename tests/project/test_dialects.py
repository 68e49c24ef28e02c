"""One function determines the CEL dialect from the release and its gates."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
CEL_ITSELF = (
    "planner/dra_planner/cel/",
    "tests/planner/cel/",
    "tests/bench/bench_cel.py",
    "conformance/cel/",
)


def test_dialects_are_created_only_from_features() -> None:
    """A dialect that is built by hand could lack a gate: code outside CEL's package and tests uses
    `Dialect.of`.
    """
    made = []
    for role in (
        "command",
        "components",
        "conformance",
        "planner",
        "policies",
        "sandbox",
        "tutorials",
        "tests",
    ):
        for path in (ROOT / role).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            if where.startswith(CEL_ITSELF):
                continue
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            calls = (node for node in nodes if isinstance(node, ast.Call))
            made += [
                f"{where}:{call.lineno}"
                for call in calls
                if ast.unparse(call.func).endswith("Dialect")
            ]
    assert made == []
