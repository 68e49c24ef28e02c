"""`pulumi-dra check`: rules over the manifests, and over the pools when they are given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from dra_command.arguments import UsageError
from dra_command.checked import Checked, order_findings
from dra_command.gathering import judge_readable
from dra_command.inputs import Inputs, read_inputs
from dra_command.progress import doing
from dra_command.status import status_of
from dra_planner.errors import Diagnostic
from dra_planner.model import Verdict, worst
from dra_planner.plan import PlanRequest, overall_verdict, read_checked
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version
from dra_planner.sources import Source, has_embedded
from dra_policies.rules import ON, RULES, Rule, StackView, besides_reading, view_of
from dra_policies.rules import run as run_rules


def run(values: argparse.Namespace) -> int:
    """Run the rules, print what they found, and return the exit status; or rewrite older forms where asked to."""
    if values.rewrite or values.in_place:
        from dra_command import rewriting

        return rewriting.run(values)
    if values.driver_upgrade:
        from dra_command.upgrading import check_upgrade

        is_about_manifests = bool(values.paths or values.stack or values.observed)
        inputs = read_inputs(values, needs_capacity=False, needs_manifests=is_about_manifests)
        checked = check_upgrade(inputs, *values.driver_upgrade)
    else:
        rules = chosen_rules(values.select)
        inputs = read_inputs(values, needs_capacity=False, is_lenient=True)
        with doing("checking", quiet=values.quiet):
            checked = check(inputs, rules)
    match values.format:
        case "json":
            from dra_command.formats.check_json import check_json

            print(check_json(checked))
        case "markdown":
            from dra_command.formats.check_markdown import check_markdown

            print(check_markdown(checked), end="")
        case "html":
            from dra_command.formats.check_html import check_html

            print(check_html(checked), end="")
        case "sarif":
            from dra_command.formats.check_sarif import check_sarif

            print(check_sarif(checked))
        case "junit":
            from dra_command.formats.check_junit import check_junit

            print(check_junit(checked))
        case "github":
            from dra_command.formats.check_github import check_github

            print(check_github(checked), end="")
        case _:
            from dra_command.formats.check_text import print_check

            print_check(checked, quiet=values.quiet)
    return status_of(checked.verdict, allow_unknown=values.allow_unknown)


def chosen_rules(selected: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules of these ids, each of which may list several; all that are on where none is named.

    Raises UsageError for an id that no rule has.
    """
    ids = [each.strip() for text in selected for each in text.split(",") if each.strip()]
    known = {rule.id: rule for rule in RULES}
    for each in ids:
        if each not in known:
            near = get_close_matches(each, known, n=1)
            fix = f'write "{near[0]}"' if near else "docs/rules.md lists the rules"
            raise UsageError(f'there is no rule "{each}"', fix=fix)
    return tuple(known[each] for each in dict.fromkeys(ids)) if ids else ON


def check(inputs: Inputs, rules: Sequence[Rule] = ON) -> Checked:
    """Return what the rules find; raises PlannerError for input that is wrong."""
    inputs, commands = _with_embedded(inputs)
    judged = judge_readable(inputs, _view)
    view, planned = judged.answer
    told = tuple(run_rules(view, besides_reading(rules)))
    of_rules = (rule.diagnostic(finding) for rule, finding in told)
    read = view.diagnostics if rules is ON else ()
    found = tuple(dict.fromkeys((*read, *of_rules, *commands, *judged.findings)))
    in_doubt = any(not finding.certain for _, finding in told)
    if any(each.code == "unknown-field" for each in found):
        from dra_command.repaired import repair_findings  # reads the texts again

        found += tuple(repair_findings(inputs.sources, found))
    placing: Verdict = worst([planned, "cannot-tell" if in_doubt else "fits"])
    workloads = len(view.manifests.workloads) if view.manifests is not None else 0
    counted = f"{len(rules)} rules, {workloads} workload{'s' if workloads != 1 else ''}"
    return Checked(
        verdict=overall_verdict(placing, found),
        diagnostics=order_findings(found),
        workloads=workloads,
        passed=f"No rule is broken: {counted}.",
    )


def _with_embedded(inputs: Inputs) -> tuple[Inputs, tuple[Diagnostic, ...]]:
    """Return inputs without values of the driver's chart, pages and scripts replaced by the manifests in them, and
    findings on commands and values.
    """
    if not any(has_embedded(source.name) or "apiVersion" not in source.text for source in inputs.sources):
        return inputs, ()
    from dra_planner.manifests.commands import command_findings
    from dra_planner.manifests.embedded import read_embedded
    from dra_planner.manifests.setup.chart_values import is_values_file, values_findings

    sources: list[Source] = []
    found: list[Diagnostic] = []
    for source in inputs.sources:
        if not has_embedded(source.name):
            if is_values_file(source.text):
                found += values_findings(source)
            else:
                sources.append(source)
            continue
        page = read_embedded(source)
        found += command_findings(page.commands, source.name)
        for block in page.others:
            found += values_findings(block)
        sources.append(page.manifests)
    return replace(inputs, sources=tuple(sources)), tuple(found)


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
