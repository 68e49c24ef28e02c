"""Folders have an order that a newcomer sees: few modules in each, and a reason for every
exception.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROLES = ("planner", "policies", "components", "command", "sandbox", "tutorials")
MOST = 20
LARGER: dict[str, str] = {}
"""Folders with more modules than others, and why they aren't split."""


def module_counts() -> Counter[str]:
    """Return the number of modules in each folder of the packages."""
    files = [path for role in ROLES for path in (ROOT / role).rglob("*.py")]
    return Counter(
        path.parent.relative_to(ROOT).as_posix() for path in files if path.name != "__init__.py"
    )


def test_folders_are_small_or_listed_as_exceptions() -> None:
    assert {folder for folder, count in module_counts().items() if count > MOST} == LARGER.keys()
