"""Names of public classes are unique."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("planner", "policies", "components", "command", "sandbox", "tutorials")
SHARED = frozenset(["OnePeriod", "PoolSchedule", "WeeklyHours"])
"""The keys of a fleet and the component inputs of the same name, which users write alike."""


def public_classes() -> dict[str, list[str]]:
    """Return class name → files, for all public classes."""
    found = defaultdict[str, list[str]](list)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_public_class_names_are_unique() -> None:
    shared = {name: files for name, files in public_classes().items() if len(files) > 1}
    assert {name: files for name, files in shared.items() if name not in SHARED} == {}
    assert set(shared) == SHARED
