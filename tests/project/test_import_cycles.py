"""Modules of a package don't import each other in a cycle, not even inside functions or only for
types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "dra_planner": "planner",
    "dra_policies": "policies",
    "dra_command": "command",
    "pulumi_dra": "components",
    "dra_sandbox": "sandbox",
    "dra_tutorials": "tutorials",
}


def modules(folder: Path) -> dict[str, ast.Module]:
    """Return dotted name → module for all modules below a folder; a package has the name of its
    folder.
    """
    found = {}
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(file.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    """Yield the known modules that a module imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other: strongly connected components with more
    than one module, by Tarjan's algorithm.
    """
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        path.append(module)
        for target in sorted(graph[module]):
            if target not in number:
                visit(target)
            if target in path:
                lowest[module] = min(lowest[module], lowest[target])
        if lowest[module] == number[module]:
            group = path[path.index(module) :]
            del path[path.index(module) :]
            if len(group) > 1 or module in graph[module]:
                found.append(sorted(group))

    for module in sorted(graph):
        if module not in number:
            visit(module)
    return found


def cycles_in(folder: Path) -> list[list[str]]:
    trees = modules(folder)
    return cycles({name: set(imported(tree, set(trees))) for name, tree in trees.items()})


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_no_import_cycle(package: str) -> None:
    assert cycles_in(ROOT / PACKAGES[package] / package) == []


@pytest.mark.parametrize(
    "second",
    [
        "from made.first import A",
        "from made import first",
        "import made.first",
        "def f():\n    from made.first import A",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.first import A",
    ],
)
def test_import_cycle_is_found_in_every_notation(tmp_path: Path, second: str) -> None:
    made = tmp_path / "made"
    made.mkdir()
    (made / "__init__.py").write_text("")
    (made / "first.py").write_text("from made.second import B")
    (made / "second.py").write_text(second)
    (made / "third.py").write_text("from made.first import A")
    assert cycles_in(made) == [["made.first", "made.second"]]
