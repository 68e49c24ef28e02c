"""The rules, and how to run them. Pure: a view in, findings out.

    view = view_of(manifests, features, plan)         what there is to judge; without a plan, the manifests alone
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
    admin_access_unknown,
    claim_asks_for_too_many_devices,
    claim_cannot_be_judged,
    claim_exceeds_quota,
    claim_fits_no_pool,
    claim_shared_by_replicas,
    claim_without_container,
    class_of_any_driver,
    constraint_names_no_attribute,
    device_of_another_driver,
    device_plugin_on_dra_node,
    driver_cannot_be_installed,
    driver_chart_refuses,
    driver_config_refused,
    driver_key_ignored,
    driver_not_pinned,
    driver_quota_too_small,
    driver_root_wrong,
    gpu_taint_not_tolerated,
    image_without_driver,
    kubernetes_too_old,
    object_is_refused,
    plan_record_invalid,
    plan_record_missing,
    pod_fits_no_system_pool,
    pod_not_described,
    pool_differs_from_plan,
    pool_maximum_too_small,
    rule_could_not_run,
    scaling_exceeds_pools,
    security_baseline,
    selector_cannot_be_checked,
    selector_just_misses_a_gpu,
    selector_reads_what_no_device_has,
    stack_cannot_be_judged,
)
from dra_policies.rules.manifest_view import view_of
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
    scaling_exceeds_pools.RULE,
    pool_differs_from_plan.RULE,
    device_plugin_on_dra_node.RULE,
    driver_quota_too_small.RULE,
    kubernetes_too_old.RULE,
    driver_chart_refuses.RULE,
    driver_cannot_be_installed.RULE,
    driver_not_pinned.RULE,
    driver_key_ignored.RULE,
    driver_root_wrong.RULE,
    image_without_driver.RULE,
    security_baseline.RULE,
    object_is_refused.RULE,
    selector_cannot_be_checked.RULE,
    selector_reads_what_no_device_has.RULE,
    selector_just_misses_a_gpu.RULE,
    claim_asks_for_too_many_devices.RULE,
    claim_exceeds_quota.RULE,
    driver_config_refused.RULE,
    constraint_names_no_attribute.RULE,
    admin_access_unknown.RULE,
    gpu_taint_not_tolerated.RULE,
    claim_shared_by_replicas.RULE,
    claim_without_container.RULE,
    class_of_any_driver.RULE,
    device_of_another_driver.RULE,
    pod_not_described.RULE,
    pod_fits_no_system_pool.RULE,
    CANNOT_BE_JUDGED,
    COULD_NOT_RUN,
)


ON: Final = tuple(rule for rule in RULES if rule.is_on)


def run(view: StackView, rules: Sequence[Rule] = ON) -> Iterator[tuple[Rule, Finding]]:
    """Yield every finding with the rule that made it, rules in the order given; never raises."""
    for rule in rules:
        try:
            for finding in rule.check(view):
                yield rule, finding
        except Exception as error:
            yield COULD_NOT_RUN, failure(error, rule=rule.id)


def check_all(view: StackView, rules: Sequence[Rule] = ON) -> Iterator[Diagnostic]:
    """Yield what reading and planning found, as it was found, then the findings of all rules."""
    yield from view.diagnostics
    yield from (rule.diagnostic(finding) for rule, finding in run(view, besides_reading(rules)))


def besides_reading(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules whose findings are not among those of reading, which are told in the reader's own words."""
    return tuple(rule for rule in rules if rule is not object_is_refused.RULE)


__all__ = [
    "CANNOT_BE_JUDGED",
    "COULD_NOT_RUN",
    "ON",
    "RULES",
    "Finding",
    "Level",
    "Rule",
    "StackView",
    "besides_reading",
    "check_all",
    "failure",
    "run",
    "view_of",
]
