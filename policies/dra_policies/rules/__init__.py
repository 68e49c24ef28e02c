"""The rules, and the functions that run them. Pure: a view in, findings out.

    view = view_of(manifests, features, plan)   the input; without a plan, the manifests
    for diagnostic in check_all(view): …        for readers: severity, code (the rule's id),
                                                message, place, fix
    for rule, finding in run(view): …           for a host that prints findings in its own way

An error is a violation of a mandatory rule, a warning is a violation of an advisory rule, and a
note states that a rule can't be evaluated.

No rule can end the run, because an exception becomes an error of the rule `rule-could-not-run`.
`RULES` are all rules, and `ON` are the rules that run by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_planner.errors import Diagnostic
from dra_policies.rules.checking.rule_could_not_run import failure
from dra_policies.rules.objects import object_does_less, object_is_refused
from dra_policies.rules.registry import (
    CANNOT_BE_JUDGED,
    COULD_NOT_RUN,
    EXEMPTIONS,
    OF_MANIFESTS,
    OF_STACKS,
    ON,
    RULES,
)
from dra_policies.rules.rule import Finding, Level, Rule, Threshold
from dra_policies.view.manifest_view import view_of
from dra_policies.view.stack_view import StackView


def run(view: StackView, rules: Sequence[Rule] | None = None) -> Iterator[tuple[Rule, Finding]]:
    """Yield every finding with its rule, in the order of the rules. Never raises.

    Without `rules`, all enabled rules run. If a rule fails, the rule `rule-could-not-run` reports
    it at its level among `rules`.
    """
    chosen = ON if rules is None else rules
    could_not_run = next((rule for rule in chosen if rule.id == COULD_NOT_RUN.id), COULD_NOT_RUN)
    for rule in chosen:
        try:
            for finding in rule.check(view):
                yield rule, finding
        except Exception as error:
            yield could_not_run, failure(error, rule=rule.id)


def check_all(view: StackView, rules: Sequence[Rule] | None = None) -> Iterator[Diagnostic]:
    """Yield the diagnostics of reading and planning, followed by the other findings of all
    rules.
    """
    yield from view.diagnostics
    chosen = besides_reading(ON if rules is None else rules)
    found = (rule.diagnostic(finding) for rule, finding in run(view, chosen))
    yield from (each for each in found if each not in view.diagnostics)


def besides_reading(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules whose findings the reader doesn't report itself."""
    read = (object_is_refused.RULE.id, object_does_less.RULE.id)
    return tuple(rule for rule in rules if rule.id not in read)


__all__ = [
    "CANNOT_BE_JUDGED",
    "COULD_NOT_RUN",
    "EXEMPTIONS",
    "OF_MANIFESTS",
    "OF_STACKS",
    "ON",
    "RULES",
    "Finding",
    "Level",
    "Rule",
    "StackView",
    "Threshold",
    "besides_reading",
    "check_all",
    "failure",
    "run",
    "view_of",
]
