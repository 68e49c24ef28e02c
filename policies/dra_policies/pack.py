"""The rules as Pulumi policies. Only `pack`, `assets`, `shared_evaluation`, and `secret_values`
import Pulumi.

Each rule is one policy, so that a pack's configuration can set the rule's level by its ID. The
engine calls a policy when it analyzes a resource before its creation, and when the whole stack is
known.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from threading import local
from typing import Any, Final

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyPack,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    StackValidationArgs,
)
from pulumi_policy.proxy import UnknownValueError

from dra_planner.errors import PlannerError
from dra_policies.assets import with_texts
from dra_policies.configuration.exemptions import excuses_of
from dra_policies.configuration.project_configuration import configuration_of_project
from dra_policies.configuration.reading import NOT_CONFIGURED, Configured
from dra_policies.configuration.rule_settings import configured_rules
from dra_policies.rules import RULES, Rule
from dra_policies.secret_values import leave_secrets_out
from dra_policies.shared_evaluation import AnsweredPolicy, evaluate_once
from dra_policies.stack.forms.value_files import VALUE_FILES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge, ReportedFinding
from dra_policies.unknown_values import Properties, plain

NAME = "dra"
DESCRIPTION = "Checks that a stack's GPU claims fit its pools, before Pulumi creates any resources."

_MORE_OBJECTS: Final = 1_000_000

LEVELS = {"mandatory": EnforcementLevel.MANDATORY, "advisory": EnforcementLevel.ADVISORY}


class Answers:
    """The findings of one request. They are evaluated once, and stored for all policies that report
    them, in one thread.
    """

    def __init__(self, judge: Judge, rules: Sequence[Rule]) -> None:
        self._judge = judge
        self._rules = tuple(rules)
        self._request = local()

    def ask(
        self, args: ResourceValidationArgs | StackValidationArgs, off: Sequence[str]
    ) -> frozenset[str]:
        """Evaluate all rules, store their findings, and return the IDs of rules with findings.

        `off` are the IDs of rules that are off by default and that the pack's configuration
        enables. They only check the whole stack.
        """
        findings = self._ask(args)
        rules = [rule for rule in self._rules if rule.id in off]
        if rules and not isinstance(args, ResourceValidationArgs):
            findings += self._judge.of_stack(
                [_stack_resource(each) for each in args.resources], rules
            )
        self._request.held = findings
        return frozenset(entry.rule.id for entry in findings)

    def forget(self) -> None:
        """Discard all findings, so that the next request is evaluated separately."""
        vars(self._request).pop("held", None)

    def to(
        self, rule: Rule, args: ResourceValidationArgs | StackValidationArgs
    ) -> tuple[ReportedFinding, ...]:
        """Return the stored findings of one rule.

        If an SDK calls every policy separately, the first call evaluates all rules. A second call
        for the same rule means a new request. A rule that is off by default is evaluated
        separately, and only for the whole stack.
        """
        held: tuple[ReportedFinding, ...] | None = vars(self._request).get("held")
        if held is not None:
            return tuple(entry for entry in held if entry.rule.id == rule.id)
        if not rule.is_on:
            if isinstance(args, ResourceValidationArgs):
                return ()
            findings = self._judge.of_stack(
                [_stack_resource(each) for each in args.resources], [rule]
            )
            return tuple(entry for entry in findings if entry.rule.id == rule.id)
        about = args.urn if isinstance(args, ResourceValidationArgs) else ""
        last = vars(self._request)
        if last.get("about") != about or rule.id in last["rules"]:
            last.update(about=about, rules=set[str](), findings=self._ask(args))
        last["rules"].add(rule.id)
        return tuple(entry for entry in last["findings"] if entry.rule.id == rule.id)

    def planned_counts(self, args: ResourceValidationArgs) -> dict[str, int]:
        """Return the planned counts that differ from a resource's properties, keyed by the path of
        the property.
        """
        return self._judge.planned_counts(_resource(args))

    def _ask(
        self, args: ResourceValidationArgs | StackValidationArgs
    ) -> tuple[ReportedFinding, ...]:
        if isinstance(args, ResourceValidationArgs):
            return self._judge.of_resource(_resource(args))
        return self._judge.of_stack([_stack_resource(resource) for resource in args.resources])


class RulePolicy(AnsweredPolicy):
    """A rule as one policy with one name, for single resources and for the whole stack."""

    def __init__(self, rule: Rule, answers: Answers, *, remediates: bool = False) -> None:
        # Not super().__init__: the two bases take their arguments in different orders.
        Policy.__init__(
            self,
            name=rule.id,
            description=rule.description,
            enforcement_level=_level(rule, remediates=remediates),
            remediation_steps=rule.fix,
        )
        self._rule, self.is_on = rule, rule.is_on
        self.answers = self._answers = answers

    def has_remediation(self) -> bool:
        return self._rule.can_remediate

    def remediate(self, args: ResourceValidationArgs) -> Any:
        """Set a pool's counts to the planned counts, and return all properties. Return None if the
        counts already match.

        Called only if a project sets the level to *remediate*.
        """
        changes = self._answers.planned_counts(args)
        for path, count in changes.items():
            *parents, last = path.split(".")
            here: Any = args.props
            for parent in parents:
                here = here[parent]
            here[last] = count
        return args.props if changes else None

    def validate(
        self, args: ResourceValidationArgs | StackValidationArgs, report_violation: ReportViolation
    ) -> None:
        """Report every finding of the rule."""
        for entry in self._answers.to(self._rule, args):
            report_violation(str(entry.finding), entry.finding.urn or None)


def _level(rule: Rule, *, remediates: bool) -> EnforcementLevel:
    if not rule.is_on:
        return EnforcementLevel.DISABLED
    return EnforcementLevel.REMEDIATE if remediates else LEVELS[rule.level]


def policies(
    rules: Iterable[Rule] = RULES,
    configured: Configured = NOT_CONFIGURED,
    today: date | None = None,
) -> list[Policy]:
    """Return a pack's policies with a project's configuration.

    They share the resources of a stack. Only exemptions that are active on the date `today` apply.
    The default is the day of the run.
    """
    settings = configured.settings
    chosen = configured_rules((*rules, *configured.custom), settings)
    leave_secrets_out()
    evaluate_once()
    judge = Judge(
        chosen,
        excuses=excuses_of(configured),
        thresholds=settings.thresholds,
        today=today or date.today(),
    )
    answers = Answers(judge, chosen)
    return [
        RulePolicy(rule, answers, remediates=settings.levels.get(rule.id) == "remediate")
        for rule in chosen
    ]


def _properties(given: object) -> Properties:
    values = plain(given, UnknownValueError)
    files = VALUE_FILES in values
    return Properties(
        {**values, VALUE_FILES: with_texts(values[VALUE_FILES], os.environ)} if files else values
    )


def _resource(args: ResourceValidationArgs) -> Resource:
    return Resource(
        urn=args.urn,
        type=args.resource_type,
        name=args.name,
        props=_properties(args.props),
        ignore_changes=tuple(args.opts.ignore_changes),
        provider=args.provider.urn if args.provider else "",
    )


def _stack_resource(resource: PolicyResource) -> Resource:
    return Resource(
        urn=resource.urn,
        type=resource.resource_type,
        name=resource.name,
        props=_properties(resource.props),
        ignore_changes=tuple(resource.opts.ignore_changes),
        sources={
            key: tuple(source.urn for source in sources)
            for key, sources in resource.property_dependencies.items()
        },
        provider=resource.provider.urn if resource.provider else "",
        depends_on=tuple(other.urn for other in resource.dependencies),
    )


def collect_rarely() -> None:
    """Make the garbage collector run less often than after every 700 new objects, which is Python's
    default.

    The objects of a stack exist until the end of the run, and scanning them after every 100,000 new
    objects still takes a tenth of the pack's run time. A stack with 1,000 claims and Jobs leaves
    300,000 objects to collect, which is tens of megabytes.
    """
    gc.set_threshold(_MORE_OBJECTS, *gc.get_threshold()[1:])


def serve_pack() -> None:
    """Serve the pack to the engine until the engine ends the process. If a setting is invalid, exit
    with an error message.
    """
    collect_rarely()
    try:
        configured = configuration_of_project(os.environ)
    except PlannerError as error:
        sys.exit(f"pulumi-dra: {error}")
    PolicyPack(name=NAME, description=DESCRIPTION, policies=policies(configured=configured))
