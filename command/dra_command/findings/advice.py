"""Warnings of the rules for the report of a plan.

The verdict of a plan already contains the findings of mandatory rules, in the plan's own words.
"""

from __future__ import annotations

import argparse
from typing import Final

from msgspec.structs import replace

from dra_command.findings.project_configuration import (
    configured_rules_of,
    find_active,
    read_project_configuration,
)
from dra_command.inputs.command_inputs import CommandInputs
from dra_planner.plan import Plan
from dra_policies.rules import OF_MANIFESTS, RULES, besides_reading
from dra_policies.rules import run as run_rules
from dra_policies.rules.claims import (
    claim_misspelt,
    class_misspelt,
    constraint_names_no_attribute,
    selector_just_misses_a_gpu,
    selector_reads_what_no_device_has,
)
from dra_policies.rules.pools import scaling_exceeds_pools
from dra_policies.view.manifest_view import view_of_plan

_OF_PLANS: Final = {rule.id for rule in RULES if rule.level == "mandatory"} | {
    scaling_exceeds_pools.RULE.id
}
"""The rules whose findings every plan reports in its own words."""
_OF_MISFITS: Final = {
    module.RULE.id
    for module in (
        claim_misspelt,
        class_misspelt,
        constraint_names_no_attribute,
        selector_just_misses_a_gpu,
        selector_reads_what_no_device_has,
    )
}
"""The rules about claims that match fewer devices than intended. If workloads don't fit, the plan
explains the cause itself.
"""
_ENABLED: Final = tuple(rule for rule in OF_MANIFESTS if rule.is_on)


def with_advice(plan: Plan, inputs: CommandInputs, values: argparse.Namespace) -> Plan:
    """Return the plan with the warnings of the rules about its manifests, except exempted warnings
    and warnings that the plan already contains.

    Raises PlannerError if the project's configuration is invalid.
    """
    if plan.manifests is None:
        return plan
    configuration = read_project_configuration(values)
    enabled = configured_rules_of(_ENABLED, configuration, selected=False)
    reported = _OF_PLANS if plan.running == "fits" else _OF_PLANS | _OF_MISFITS
    rules = [rule for rule in besides_reading(enabled) if rule.id not in reported]
    found = tuple(run_rules(view_of_plan(plan), rules))
    active = find_active(found, (), inputs, rules, configuration)
    files = {source.name for source in inputs.sources}
    messages = {each.message for each in (*plan.findings, *plan.beside)}
    advice = (
        replace(rule.diagnostic(finding), severity="warning")
        for rule, finding in active.rule_findings
        if finding.certain and not finding.remark
    )
    return replace(
        plan,
        advice=tuple(
            each
            for each in dict.fromkeys(advice)
            if each.place.file in files and each.message not in messages
        ),
    )
