"""Every public report about GPU fleets is prevented or reported, and a test or a seeded fault
proves it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from seeded_stacks import seeded

from dra_policies.rules import RULES

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs/field-reports.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| Report")
]


def test_every_report_is_prevented_or_reported() -> None:
    assert len(ROWS) == 44
    assert {row[2] for row in ROWS} == {"prevented", "reported"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_report_has_a_test(row: list[str]) -> None:
    file, _, name = row[4].strip("`").partition("::")
    if file.endswith(".yaml"):
        (fault,) = [each for each in seeded() if each.fault == name]
        assert f"`{fault.rule}`" in row[3] or row[2] == "prevented"
    else:
        assert re.search(
            rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE
        )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_rules_in_a_row_exist(row: list[str]) -> None:
    named = re.findall(r"(?:[Rr]ules?|and|The rule) `([a-z-]+-[a-z-]+)`", row[3])
    assert set(named) <= {rule.id for rule in RULES}
