"""The rules, and how to run them. Pure: a view in, findings out.

    view = StackView(manifests=…, judgement=…)        what there is to judge (dra_policies.rules.view)
    for diagnostic in check_all(view): …             for readers: severity, code (the rule's id), message, place, fix
    for rule, finding in run(view): …                for a host that has its own way of telling

An error is a broken mandatory rule, a warning a broken advisory one, a note what a rule could not tell. No rule
can end the run: one that raises becomes an error of the rule `rule-could-not-run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_planner.errors import Diagnostic

from dra_policies.rules import (
    claim_cannot_be_judged,
    claim_fits_no_pool,
    device_plugin_on_dra_node,
    driver_quota_too_small,
    plan_record_invalid,
    plan_record_missing,
    pool_differs_from_plan,
    pool_maximum_too_small,
    rule_could_not_run,
    stack_cannot_be_judged,
)
from dra_policies.rules.rule import Finding, Level, Rule
from dra_policies.rules.rule_could_not_run import failure
from dra_policies.rules.view import StackView

COULD_NOT_RUN: Final = rule_could_not_run.RULE
CANNOT_BE_JUDGED: Final = stack_cannot_be_judged.RULE

RULES: Final[tuple[Rule, ...]] = (
    plan_record_invalid.RULE,
    plan_record_missing.RULE,
    claim_fits_no_pool.RULE,
    pool_maximum_too_small.RULE,
    claim_cannot_be_judged.RULE,
    pool_differs_from_plan.RULE,
    device_plugin_on_dra_node.RULE,
    driver_quota_too_small.RULE,
    CANNOT_BE_JUDGED,
    COULD_NOT_RUN,
)


def run(view: StackView, rules: Sequence[Rule] = RULES) -> Iterator[tuple[Rule, Finding]]:
    """Yield every finding with the rule that made it, rules in the order given; never raises."""
    for rule in rules:
        try:
            for finding in rule.check(view):
                yield rule, finding
        except Exception as error:
            yield COULD_NOT_RUN, failure(error, rule=rule.id)


def check_all(view: StackView, rules: Sequence[Rule] = RULES) -> Iterator[Diagnostic]:
    """Yield the findings of all rules as diagnostics."""
    for rule, finding in run(view, rules):
        yield rule.diagnostic(finding)


__all__ = [
    "CANNOT_BE_JUDGED",
    "COULD_NOT_RUN",
    "RULES",
    "Finding",
    "Level",
    "Rule",
    "StackView",
    "check_all",
    "failure",
    "run",
]
