"""Each rule has a fault that is seeded into a stack or manifests, or is listed with the test that
has its faults.

Correct stacks and manifests have no findings, a seeded fault is found, and nothing is refused while
the values that its edit changes are unknown. So each rule with a row is tested with all three
results: passes, fails, and cannot tell (test_seeded_stacks, test_seeded_manifests).
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from seeded_stacks import HERE, base, edited, seeded

from dra_planner.catalog.tables import read_table
from dra_policies.rules import RULES, Rule
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.stack.views import view_of_stack

ELSEWHERE = {
    "claim-misspelt": "test_manifest_rules.py",  # of manifests without nodes
    "claim-not-found": "test_manifest_rules.py",  # the same
    "cost-above-ceiling": "test_cost_ceilings.py",  # no findings without a threshold
    "pool-cost-above-ceiling": "test_cost_ceilings.py",
    "exemption-without-effect": "test_configuration.py",  # about the configuration
    "guards-missing": "test_guards_missing.py",  # of a plan with guards
    "mig-laid-out-twice": "test_gpu_operator.py",  # of a plan with a layout
    "pod-fits-no-system-pool": "test_false_positives.py",  # about the capacity of the system pool
    "queue-decides": "../command/truth/cases_of_queues.py",  # remarks: nothing is wrong
    "pod-not-described": "test_false_positives.py",  # a note: it is not known whether devices are requested
    "rule-could-not-run": "test_pack.py",  # of a rule that raises
    "selector-cannot-be-checked": "test_manifest_rules.py",  # a note: our CEL lacks a function
}
ROWS = {row.rule for row in seeded()} | {
    row["code"]
    for row in yaml.safe_load((HERE / "manifests" / "faults.yaml").read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_has_a_seeded_fault(rule: Rule) -> None:
    if rule.id in ELSEWHERE:
        text = (Path(__file__).parent / ELSEWHERE[rule.id]).read_text(encoding="utf-8")
        assert rule.id in text or rule.id.replace("-", "_") in text
        assert rule.id not in ROWS, "it is seeded by now: take it off the list"
    else:
        assert rule.id in ROWS


def test_every_row_of_the_property_table_has_a_seeded_fault() -> None:
    """test_seeded_stacks checks that the fix works and causes no new findings."""
    rows = {(row["rule"], row["fix"]) for row in read_table("resource_rows")}
    rules = {rule for rule, _ in rows}
    found = set()
    for row in seeded():
        if row.rule in rules:
            view = view_of_stack(list(edited(base(row.base), row.edit).values()))
            found |= {(row.rule, each.fix) for each in broken_rows(view, row.rule)}
    assert not rows - found


def test_exceptions_are_existing_rules() -> None:
    assert set(ELSEWHERE) <= {rule.id for rule in RULES}
