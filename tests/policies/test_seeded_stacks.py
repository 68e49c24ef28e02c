"""Each seeded fault is found by its rule, at its level, on its object; its fix removes the finding
and causes no new ones.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from seeded_stacks import (
    HERE,
    Seeded,
    base,
    computed,
    edited,
    findings_of,
    findings_of_base,
    hidden,
    seeded,
)
from stack_fixes import is_filled_from

BASES = sorted(file.stem for file in (HERE / "bases").glob("*.yaml"))
ROWS = seeded()
CHANGES = yaml.safe_load((HERE / "quiet" / "changes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BASES)
def test_a_valid_stack_has_no_findings(name: str) -> None:
    assert [
        entry
        for entry in findings_of_base(name)
        if entry.level == "mandatory" or entry.rule != JUDGED
    ] == []


# Words of advice that can't be followed in a stack without a plan.
FLEET_WORDS = ("count.max", "in the fleet", "fleet's", "drivers.nvidia", "pools[", "deviceClasses")
# names unknown values in a stack whose nodes an autoscaler chooses
JUDGED = "stack-cannot-be-judged"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change["change"])
def test_a_valid_change_causes_no_findings(change: dict[str, Any]) -> None:
    entries = findings_of(edited(base(change["base"]), change["edit"]))
    assert [entry for entry in entries if entry not in findings_of_base(change["base"])] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}: {row.fault}")
def test_a_fault_is_found_and_its_fix_works(row: Seeded) -> None:
    good = base(row.base)
    bad = edited(good, row.edit)
    better = good if row.fix == "undo" else edited(bad, row.fix)  # type: ignore[arg-type]  # else a mapping

    entries = findings_of(bad)
    found = [entry for entry in entries if entry.rule == row.rule and entry.object == row.object]
    before = findings_of_base(row.base)
    after = [entry for entry in findings_of(better) if entry not in before]

    assert [entry.level for entry in found] == [row.level], entries
    assert row.words in found[0].sentence, found[0].sentence
    assert is_filled_from(found[0].fix, row.follows) or not row.follows
    assert after == []
    foreign = [words for words in FLEET_WORDS if words != row.words]
    own_words = [
        entry.sentence for entry in entries if any(words in entry.sentence for words in foreign)
    ]
    assert own_words == [] or row.base == "planned-eks"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}: {row.fault}")
def test_unknown_values_cause_no_mandatory_finding(row: Seeded) -> None:
    stack = hidden(base(row.base), row.edit)
    assert [entry for entry in findings_of(stack) if entry.level == "mandatory"] == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.computed], ids=lambda row: row.fault)
def test_a_value_of_another_resource_does_not_hide_a_fault(row: Seeded) -> None:
    entries = findings_of(computed(edited(base(row.base), row.edit), row.computed))
    assert [
        entry.level for entry in entries if (entry.rule, entry.object) == (row.rule, row.object)
    ] == [row.level]


def test_fault_names_are_unique() -> None:
    names = [row.fault for row in ROWS]
    assert sorted(names) == sorted(set(names))
