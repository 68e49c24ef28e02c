"""`docs/architecture.md` lists the allowed imports of each package, and the code follows the
list.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = {
    "dra_planner": "planner",
    "dra_policies": "policies",
    "dra_command": "command",
    "pulumi_dra": "components",
    "dra_sandbox": "sandbox",
    "dra_tutorials": "tutorials",
}


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def allowed(package: str) -> set[str]:
    """Return the project's packages or modules that a package may import by the table of
    the page.
    """
    rows = [cells_of(line) for line in PAGE.splitlines() if line.startswith("| `")]
    (cell,) = [row[3] for row in rows if row[1] == f"`{package}`"]
    found = set[str]()
    for name, parts in re.findall(r"`([\w.]*\w)(?:\.\{([^}]*)\})?`", cell):
        found |= {f"{name}.{part.strip()}" for part in parts.split(",")} if parts else {name}
    return found


def imported(package: str) -> set[str]:
    """Return the modules of our other packages that it imports, two names deep."""
    found, others = set[str](), PACKAGES.keys() - {package}
    for path in (ROOT / PACKAGES[package] / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = (
                    [node.module]
                    if "." in node.module
                    else [f"{node.module}.{each.name}" for each in node.names]
                )
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            else:
                continue
            found |= {
                ".".join(name.split(".")[:2]) for name in names if name.split(".")[0] in others
            }
    return found


def test_layout_on_the_page_matches_the_repository() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    import layout

    assert layout.page() == PAGE, "run: docs/generate.py docs/architecture.md"
    assert set(layout.PACKAGES) == {f"{folder}/{package}" for package, folder in PACKAGES.items()}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_the_page_allows(package: str) -> None:
    may = allowed(package)
    assert {
        name for name in imported(package) if name not in may and name.split(".")[0] not in may
    } == set()


def test_components_import_every_package_on_the_page() -> None:
    assert imported("pulumi_dra") == allowed("pulumi_dra")


def test_planner_layers_match_the_import_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in contracts if each.get("containers") == ["dra_planner"]]
    layers = [{name.strip() for name in line.split("|")} for line in reversed(contract["layers"])]
    table = PAGE.partition("## Inside the planner")[2].partition("\n## ")[0]
    rows = [cells_of(line)[0] for line in table.splitlines() if line.startswith("| `")]
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == layers
