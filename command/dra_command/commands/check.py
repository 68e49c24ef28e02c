"""`pulumi-dra check`: rules over the manifests, and over the pools when they are given."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dra_command.arguments import UsageError
from dra_command.checked import Checked, Skipped, order_findings
from dra_command.configured import Asked, configured_rules_of, keep, read_asked
from dra_command.gathering import judge_readable
from dra_command.inputs import Inputs, read_inputs
from dra_command.kept import settled
from dra_command.pages import with_embedded
from dra_command.progress import doing
from dra_command.status import Status, status_of
from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.model import Verdict, worst
from dra_planner.plan import PlanRequest, overall_verdict, read_checked
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version
from dra_planner.wording import counted
from dra_policies.rules import COULD_NOT_RUN, OF_MANIFESTS, OF_STACKS, Rule, StackView, besides_reading, view_of
from dra_policies.rules import run as run_rules

if TYPE_CHECKING:
    from dra_command.baseline import Known
    from dra_planner.releases import Features
    from dra_planner.sources import Source


def run(values: argparse.Namespace) -> int:
    """Run the rules, print what they found, and return the exit status; or rewrite older forms where asked to."""
    if values.rewrite or values.in_place:
        from dra_command import rewriting

        return rewriting.run(values)
    if values.explain:
        return _explain(values.explain)
    if values.fix:
        from dra_command.fixing import refuse_odd_combinations

        refuse_odd_combinations(values)
    outputs: dict[Path, str] = {}
    if values.output:
        from dra_command.formats.check_answer import outputs_of, write_outputs

        outputs = outputs_of(values.output)
    if values.driver_upgrade:
        from dra_command.upgrading import check_upgrade

        is_about_manifests = bool(values.paths or values.stack or values.observed)
        inputs = read_inputs(values, needs_capacity=False, needs_manifests=is_about_manifests)
        checked = check_upgrade(inputs, *values.driver_upgrade)
    else:
        rules = chosen_rules(values.select) if values.select else ()
        asked = read_asked(values)
        known = _known(values, rules, asked)
        inputs = read_inputs(values, needs_capacity=False, is_lenient=True)
        with doing("checking", quiet=values.quiet):
            if values.fix:
                inputs = _fix(values, inputs, rules, asked)
            checked = check(inputs, rules, asked, known)
        if values.write_baseline:
            from dra_command.baseline import write_baseline

            write_baseline(Path(values.write_baseline), checked.diagnostics)
            print(f"{values.write_baseline}: {counted(len(checked.diagnostics), 'finding')}")
            return Status.FITS
    if outputs:
        write_outputs(checked, outputs)
    if values.format == "text":
        from dra_command.formats.check_text import print_check

        print_check(checked, quiet=values.quiet)
    else:
        from dra_command.formats.check_answer import check_answer

        print(check_answer(checked, values.format), end="")
    return _status(checked, values.fail_on, allow_unknown=values.allow_unknown)


def _fix(values: argparse.Namespace, inputs: Inputs, rules: Sequence[Rule], asked: Asked | None) -> Inputs:
    """Repair the files and return them as they are then."""
    from dra_command.fixing import fix_files, output_of_changes

    minor = inputs.kubernetes or (inputs.fleet.kubernetes if inputs.fleet is not None else "")
    features = features_of(parse_version(minor) if minor else MAXIMUM_MINOR)
    return fix_files(inputs, features, lambda given: check(given, rules, asked), output_of_changes(values))


def _known(values: argparse.Namespace, rules: Sequence[Rule], asked: Asked | None) -> Known | None:
    """Return what was found before, where a baseline or another state of the repository is named."""
    if values.baseline:
        from dra_command.baseline import read_baseline

        return read_baseline(values.baseline)
    if not values.diff:
        return None
    from dra_command.differing import known_at

    return known_at(
        values.diff,
        values,
        lambda then: check(read_inputs(then, needs_capacity=False, is_lenient=True), rules, asked),
    )


def _status(checked: Checked, fail_on: str, *, allow_unknown: bool) -> Status:
    """Return the exit status: by the verdict, unless another severity was asked for."""
    if fail_on == "error":
        return status_of(checked.verdict, allow_unknown=allow_unknown)
    if fail_on == "never":
        return Status.FITS
    severities = ("error", "warning", "note")
    failing = severities[: severities.index(fail_on) + 1]
    if any(each.severity in failing for each in checked.diagnostics):
        return Status.BROKEN
    return status_of(checked.verdict, allow_unknown=allow_unknown)


def _explain(rule_id: str) -> Status:
    """Print what a rule is about."""
    (rule,) = chosen_rules([rule_id])
    needs = _NEEDS.get(rule.needs, "needs manifests alone")
    state = rule.level if rule.is_on else f"{rule.level}, off unless it is selected"
    print(f"{rule.id} ({state}; {needs})\n\n{rule.says}\n\nWhy: {rule.why}\nFix: {rule.fix}\nMore: {rule.url}")
    return Status.FITS


def chosen_rules(selected: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules of these ids, each of which may list several; all that are on where none is named.

    Rules that judge stacks alone are among them only by name. Raises UsageError for an id that no rule has.
    """
    ids = [each.strip() for text in selected for each in text.split(",") if each.strip()]
    if selected and not ids:
        raise UsageError("--select names no rule", fix="docs/rules.md lists the rules")
    if not ids:
        return (*(rule for rule in OF_MANIFESTS if rule.is_on), COULD_NOT_RUN)
    from dra_policies.rules import RULES  # those of stacks are loaded where somebody names a rule

    known = {rule.id: rule for rule in RULES}
    for each in ids:
        if each not in known:
            from dra_policies.configuration.reading import unknown_rule  # only on the way to an error

            raise UsageError(f'there is no rule "{each}"', fix=unknown_rule(each))
    return tuple(known[each] for each in dict.fromkeys(ids))


def check(
    inputs: Inputs,
    rules: Sequence[Rule] = (),
    asked: Asked | None = None,
    known: Known | None = None,
    *,
    judges_new_forms: bool = True,
) -> Checked:
    """Return what the rules find; raises PlannerError for input that is wrong.

    Without `rules` all run that are on, as a project's configuration sets them. What is `known` is not told again.
    Objects of older versions are judged in their form in v1 too, where `judges_new_forms`.
    """
    given, chosen = inputs, rules
    selected, levels = bool(rules), asked.levels if asked is not None else {}
    rules = configured_rules_of(rules or chosen_rules(()), asked, selected=selected)
    inputs, commands = with_embedded(inputs)
    judged = judge_readable(inputs, _view)
    view, planned = judged.answer
    if asked is not None and asked.configured.settings.thresholds:
        view = replace(view, thresholds=asked.configured.settings.thresholds)
    told = tuple(run_rules(view, besides_reading(rules)))
    skipped = tuple(_skipped(rules, has_pools=inputs.fleet is not None or bool(inputs.observed)))
    without = {each.rule for each in skipped}
    judging = [rule for rule in rules if rule.id not in without]
    kept = keep(told, () if selected else view.diagnostics, judged.inputs, judging, asked)
    of_rules = (rule.diagnostic(finding) for rule, finding in kept.told)
    found = tuple(dict.fromkeys((*kept.read, *of_rules, *commands, *judged.findings, *kept.remarks)))
    if view.manifests is not None and view.features is not None and view.manifests.slices:
        from dra_command.slice_findings import slice_findings  # snapshots alone hold some

        found += tuple(slice_findings(view.manifests.slices, view.features))
    if judges_new_forms and view.features is not None and any(each.code == "version-not-served" for each in found):
        found = _with_new_forms(given, found, view.features, chosen, asked)
    doubts = {rule.diagnostic(finding) for rule, finding in kept.told if not finding.certain}
    old: tuple[Diagnostic, ...] = ()
    if known is not None:
        from dra_command.baseline import gone, split

        parts = split(found, known)
        old = parts.old
        found = (*parts.new, *gone(known, old, (source.name for source in inputs.sources)))
    if settled((each.code for each in (*(row.finding for row in kept.exempted), *old)), levels, found):
        planned = "fits"
    in_doubt = not doubts.isdisjoint(found)
    if any(each.code == "unknown-field" for each in found):
        from dra_command.repaired import repair_findings  # reads the texts again

        found += tuple(repair_findings(inputs.sources, found))
    placing: Verdict = worst([planned, "cannot-tell" if in_doubt else "fits"])
    if not selected:
        skipped += tuple(Skipped(rule, _NEEDS["stack"]) for rule in OF_STACKS if levels.get(rule) != "disabled")
    checked = Checked(
        verdict=overall_verdict(placing, found),
        diagnostics=order_findings(found),
        workloads=len(view.manifests.workloads) if view.manifests is not None else 0,
        passed="",
        kubernetes=view.features.version if view.features is not None else "",
        judged=tuple(rule.id for rule in judging),
        skipped=skipped,
        exempted=kept.exempted,
        known=len(old),
    )
    return replace(checked, passed=_passed(checked))


def _with_new_forms(
    given: Inputs, found: tuple[Diagnostic, ...], features: Features, rules: Sequence[Rule], asked: Asked | None
) -> tuple[Diagnostic, ...]:
    from dra_command.older_forms import with_new_forms  # rewriting is needed for older versions alone

    def again(sources: tuple[Source, ...]) -> tuple[Diagnostic, ...]:
        try:
            inputs = replace(given, sources=sources)
            return check(inputs, rules, asked, judges_new_forms=False).diagnostics
        except PlannerError:  # what cannot be judged in its new form is told in its old one
            return ()

    return with_new_forms(given.sources, found, features, again)


_NEEDS = {
    "pools": "needs the pools: --stack, --fleet or --observed",
    "stack": "judges resources of Pulumi: run the policy pack",
}


def _skipped(rules: Iterable[Rule], *, has_pools: bool) -> Iterator[Skipped]:
    for rule in rules:
        if rule.needs == "stack" or (rule.needs == "pools" and not has_pools):
            yield Skipped(rule.id, _NEEDS[rule.needs])


def _passed(checked: Checked) -> str:
    """Return what to say where no rule is broken: how much that means."""
    workloads, judged = counted(checked.workloads, "workload"), counted(len(checked.judged), "rule")
    said = [f"No rule is broken: {judged} on {workloads}, for Kubernetes {checked.kubernetes}"]
    for needs, what in (("pools", "need --stack, --fleet or --observed"), ("stack", "judge Pulumi stacks alone")):
        number = sum(each.why == _NEEDS[needs] for each in checked.skipped)
        said += [f"{number} more {what}"] if number else []
    return "; ".join(said) + f"{checked.not_told}."


def _view(inputs: Inputs) -> tuple[StackView, Verdict]:
    if inputs.fleet is None and not inputs.observed:
        features = features_of(parse_version(inputs.kubernetes) if inputs.kubernetes else MAXIMUM_MINOR)
        return view_of(read_checked(inputs.sources, features), features), "fits"
    from dra_planner.plan import make_plan  # only with pools to judge by

    request = PlanRequest(
        sources=inputs.sources, fleet=inputs.fleet, observed=inputs.observed, kubernetes=inputs.kubernetes
    )
    plan = make_plan(replace(request, devices_only=True))
    assert plan.manifests is not None  # make_plan keeps what it read
    view = view_of(
        plan.manifests,
        features_of(parse_version(plan.kubernetes)),
        plan,
        whole_judgement=lambda: make_plan(request).judgement,
    )
    return view, plan.verdict
