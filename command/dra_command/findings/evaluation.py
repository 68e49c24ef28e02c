"""Evaluation of rules on manifests and, if given, on pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.findings.active_findings import FITTING, is_accepted
from dra_command.findings.baseline import fixed_notes, split_known
from dra_command.findings.check_result import CheckResult, SkippedRule, order_findings
from dra_command.findings.fleet_findings import with_fleet_places
from dra_command.findings.older_versions import add_findings_of_v1
from dra_command.findings.project_configuration import (
    ProjectConfiguration,
    configured_rules_of,
    find_active,
)
from dra_command.findings.tutorial_inputs import extract_tutorials
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.inputs.guard_components import find_outdated_guards
from dra_command.inputs.planned_inputs import request_of
from dra_command.inputs.readable_manifests import evaluate_readable
from dra_command.inputs.yaml_repair import repair_findings
from dra_planner.errors import NOWHERE, Diagnostic, PlannerError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import read_objects
from dra_planner.manifests.setup.cluster_tools.declared_features import declared_features
from dra_planner.model import DemandLevel, Verdict, worst
from dra_planner.plan import Plan, make_plan, overall_verdict, read_checked
from dra_planner.planfile import plan_path
from dra_planner.planfile.saved_demand import saved_demand
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version
from dra_policies.configuration.reading import unknown_rule
from dra_policies.rules import (
    COULD_NOT_RUN,
    OF_MANIFESTS,
    OF_STACKS,
    RULES,
    Finding,
    Rule,
    StackView,
    besides_reading,
    view_of,
)
from dra_policies.rules import run as run_rules
from dra_policies.rules.claims.claim_fits_no_pool import REPORTED_OBJECTS
from dra_policies.view.manifest_view import view_of_plan
from dra_policies.view.waiting_pods import waiting_for_one_cause

if TYPE_CHECKING:
    from dra_command.findings.baseline import KnownFindings
    from dra_planner.releases import Features
    from dra_planner.sizing import WorkloadSize
    from dra_planner.sources import Source


def selected_rules(selected: Sequence[str], custom: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """Return the rules with these IDs, or all enabled rules if no IDs are given. An argument may
    list several IDs. `custom` are the project's own rules. Rules that only check stacks are
    included only if they are named. Raises UsageError for an unknown ID.
    """
    ids = [each.strip() for text in selected for each in text.split(",") if each.strip()]
    if selected and not ids:
        raise UsageError("--select is empty", fix="list at least one rule ID from docs/rules.md")
    if not ids:
        return (*(rule for rule in OF_MANIFESTS if rule.is_on), COULD_NOT_RUN)
    known = {rule.id: rule for rule in (*RULES, *custom)}
    for each in ids:
        if each not in known:
            raise UsageError(f'rule "{each}" doesn\'t exist', fix=unknown_rule(each))
    return tuple(known[each] for each in dict.fromkeys(ids))


def find_violations(
    inputs: CommandInputs,
    rules: Sequence[Rule] = (),
    configuration: ProjectConfiguration | None = None,
    known: KnownFindings | None = None,
    *,
    judges_new_forms: bool = True,
) -> CheckResult:
    """Return the findings of the rules. Raises PlannerError if the input is invalid. Without
    `rules`, all rules that the project's configuration enables run. `known` findings aren't
    reported again. If `judges_new_forms` is set, objects of older versions are also checked in
    their v1 form.
    """
    given, chosen = inputs, rules
    selected, levels = bool(rules), configuration.levels if configuration is not None else {}
    rules = configured_rules_of(rules or selected_rules(()), configuration, selected=selected)
    inputs, commands = extract_tutorials(inputs)
    judged = evaluate_readable(inputs, _view_and_verdict)
    view, planned, plan = judged.answer
    if configuration is not None and configuration.configured.settings.thresholds:
        view = replace(view, thresholds=configuration.configured.settings.thresholds)
    rule_findings = _rule_findings(view, rules, inputs)
    skipped = tuple(_skipped(rules, view, inputs))
    judging = [rule for rule in rules if rule.id not in {each.rule for each in skipped}]
    kept = find_active(
        rule_findings, () if selected else view.diagnostics, judged.inputs, judging, configuration
    )
    of_rules = (rule.diagnostic(finding) for rule, finding in kept.rule_findings)
    outdated = find_outdated_guards(inputs.guards_files, plan, inputs.stack) if plan else ()
    everything = (*kept.read, *of_rules, *commands, *judged.findings, *outdated, *kept.remarks)
    found = tuple(dict.fromkeys(everything))
    if judges_new_forms and view.features is not None:
        found = _with_new_forms(given, found, view.features, chosen, configuration)
    doubts = {
        rule.diagnostic(finding) for rule, finding in kept.rule_findings if not finding.certain
    }
    found, old = _split(found, known, inputs.sources)
    accepted = [each.code for each in (*(row.finding for row in kept.exempted), *old)]
    accepts = is_accepted(accepted, levels, found) and not _is_silent(view, rule_findings, rules)
    accepts_misfits = accepts and planned != "fits"
    # rules that the user selects might not depend on whether pods fit
    if accepts or (selected and FITTING.isdisjoint(each.id for each in judging)):
        planned = "fits"
    placing: Verdict = worst([planned, "fits" if doubts.isdisjoint(found) else "cannot-tell"])
    found += _repairs(inputs, found)
    skipped += () if selected else tuple(_skipped_without_stack(levels))
    return CheckResult(
        verdict=overall_verdict(placing, found),
        diagnostics=order_findings(found),
        workloads=len(view.manifests.workloads) if view.manifests is not None else 0,
        kubernetes=view.features.version if view.features is not None else "",
        judged=tuple(rule.id for rule in judging),
        skipped=skipped,
        exempted=kept.exempted,
        known=len(old),
        stack=inputs.stack,
        fleet_file=inputs.fleet_file,
        accepts_misfits=accepts_misfits,
        plan=None if selected or planned == "fits" else plan,
    )


def _rule_findings(
    view: StackView, rules: Sequence[Rule], inputs: CommandInputs
) -> tuple[tuple[Rule, Finding], ...]:
    found = tuple(run_rules(view, besides_reading(rules)))
    return with_fleet_places((*found, *_unexplained(view, found, rules)), inputs.fleet_file)


def _split(
    found: tuple[Diagnostic, ...], known: KnownFindings | None, sources: Iterable[Source]
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Return new findings, with notes about resolved ones, and known findings."""
    if known is None:
        return found, ()
    parts = split_known(found, known)
    notes = fixed_notes(known, parts.old, (source.name for source in sources))
    return (*parts.new, *notes), parts.old


def _repairs(inputs: CommandInputs, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return findings about wrong indentation that explains unknown fields."""
    if all(each.code != "unknown-field" for each in found):
        return ()
    return tuple(repair_findings(inputs.sources, found))


def _skipped_without_stack(levels: Mapping[str, str]) -> Iterator[SkippedRule]:
    """Yield the enabled rules that only check stacks."""
    for rule in OF_STACKS:
        if levels.get(rule) != "disabled":
            yield SkippedRule(rule, MISSING_INPUT["stack"])


def _unexplained(
    view: StackView, rule_findings: Sequence[tuple[Rule, Finding]], rules: Sequence[Rule]
) -> Iterator[tuple[Rule, Finding]]:
    """Yield the plan's reasons for workloads that no rule explains, so that no verdict is without a
    finding.

    A project's own rule about a workload doesn't explain why the workload doesn't fit.
    """
    by_id, built_in = {rule.id: rule for rule in rules}, {rule.id for rule in RULES}
    messages = [finding.message for rule, finding in rule_findings if rule.id in built_in]
    for size in _without_messages(view, messages):
        name, certain = str(size.workload), size.verdict == "does-not-fit"
        rule = by_id.get(_fitting_rule(size))
        if rule is None:
            continue
        reasons = "; ".join(dict.fromkeys(reason.message for reason in size.reasons))
        fix = next((reason.fix for reason in size.reasons if reason.fix), "")
        place = next((each.place for each in size.reasons if each.place.file), NOWHERE)
        yield (
            rule,
            Finding(
                message=f"{name}: {reasons}", fix=fix, place=place, about=name, certain=certain
            ),
        )


def _without_messages(view: StackView, messages: Sequence[str]) -> Iterator[WorkloadSize]:
    """Yield the workloads that don't fit or can't be evaluated, and that no finding mentions."""
    if view.judgement is None:
        return
    cause = waiting_for_one_cause(view.judgement)
    grouped = () if cause is None else cause.workloads
    for size in view.judgement.sizing.workloads:
        if size.verdict == "fits" or size.workload in grouped:
            continue
        if size.reasons and all(reason.code in REPORTED_OBJECTS for reason in size.reasons):
            continue  # a finding already reports the problem with the object
        if not any(str(size.workload) in message for message in messages):
            yield size


def _fitting_rule(size: WorkloadSize) -> str:
    return "claim-fits-no-pool" if size.verdict == "does-not-fit" else "claim-cannot-be-judged"


def _is_silent(
    view: StackView, rule_findings: Sequence[tuple[Rule, Finding]], rules: Sequence[Rule]
) -> bool:
    """Return whether only warnings mention a workload that doesn't fit or can't be evaluated. If
    other workloads' findings are accepted, this workload's verdict would otherwise be lost.
    """
    deciding = [
        finding.message
        for rule, finding in rule_findings
        if rule.id in FITTING or not finding.certain or rule.diagnostic(finding).severity == "error"
    ]
    enabled = {rule.id for rule in rules}
    return any(_fitting_rule(size) in enabled for size in _without_messages(view, deciding))


def _with_new_forms(
    given: CommandInputs,
    found: tuple[Diagnostic, ...],
    features: Features,
    rules: Sequence[Rule],
    configuration: ProjectConfiguration | None,
) -> tuple[Diagnostic, ...]:
    """Return the findings, with those of the v1 forms of objects whose version isn't served."""
    if all(each.code != "version-not-served" for each in found):
        return found

    def again(sources: tuple[Source, ...]) -> tuple[Diagnostic, ...]:
        try:
            inputs = replace(given, sources=sources)
            return find_violations(inputs, rules, configuration, judges_new_forms=False).diagnostics
        except PlannerError:  # if the v1 form can't be checked, findings refer to the old form
            return ()

    return add_findings_of_v1(given.sources, found, features, again)


MISSING_INPUT = {
    "pools": "needs --stack, --fleet, or --observed",
    "stack": "checks Pulumi resources, so run the policy pack",
}


NEVER_APPLIES = "`when` is false for every object"
"""Why a project's own rule checked nothing."""


def _skipped(
    rules: Iterable[Rule], view: StackView, inputs: CommandInputs
) -> Iterator[SkippedRule]:
    has_pools = inputs.fleet is not None or bool(inputs.observed)
    for rule in rules:
        if rule.needs == "stack" or (rule.needs == "pools" and not has_pools):
            yield SkippedRule(rule.id, MISSING_INPUT[rule.needs])
        elif not rule.applies(view):
            yield SkippedRule(rule.id, NEVER_APPLIES)


def make_view(inputs: CommandInputs) -> StackView:
    """Return the view that rules read, without unreadable files. Raises PlannerError if no file can
    be read.
    """
    return evaluate_readable(inputs, _view_and_verdict).answer[0]


def _demand(stack: str) -> DemandLevel:
    """Return the demand for which the stack's plan is sized, so that `check` and `plan` agree."""
    return saved_demand(plan_path(stack)) if stack else "steady"


def _view_and_verdict(inputs: CommandInputs) -> tuple[StackView, Verdict, Plan | None]:
    view, verdict, plan = _view(inputs)
    return replace(view, stack=inputs.stack), verdict, plan


def _view(inputs: CommandInputs) -> tuple[StackView, Verdict, Plan | None]:
    if inputs.fleet is None and not inputs.observed:
        features = features_of(
            parse_version(inputs.kubernetes) if inputs.kubernetes else MAXIMUM_MINOR
        )
        documents, _ = read_documents(inputs.sources)
        features = declared_features(read_objects(documents), features)
        return view_of(read_checked(inputs.sources, features), features), "fits", None
    plan = make_plan(request_of(inputs, _demand(inputs.stack)))
    return view_of_plan(plan), plan.placing, plan
