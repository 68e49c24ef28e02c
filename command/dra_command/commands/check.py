"""`pulumi-dra check`: rules over the manifests, and over the pools when they are given."""

from __future__ import annotations

import argparse
from dataclasses import replace

from dra_command.checked import Checked, order_findings
from dra_command.inputs import Inputs, read_inputs
from dra_command.progress import doing
from dra_command.status import status_of
from dra_planner.errors import Diagnostic
from dra_planner.model import Verdict, worst
from dra_planner.plan import PlanRequest, overall_verdict, read_checked
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version
from dra_planner.sources import Source, has_embedded
from dra_policies.rules import RULES, StackView, check_all, view_of


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
        inputs = read_inputs(values, needs_capacity=False)
        with doing("checking", quiet=values.quiet):
            checked = check(inputs)
    match values.format:
        case "json":
            from dra_command.formats.check_json import check_json

            print(check_json(checked))
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


def check(inputs: Inputs) -> Checked:
    """Return what the rules find; raises PlannerError for input that is wrong."""
    inputs, commands = _with_embedded(inputs)
    view, planned = _view(inputs)
    found = tuple(dict.fromkeys((*check_all(view), *commands)))
    in_doubt = any(each.severity == "note" and each.code in _RULE_IDS for each in found)
    placing: Verdict = worst([planned, "cannot-tell" if in_doubt else "fits"])
    workloads = len(view.manifests.workloads) if view.manifests is not None else 0
    counted = f"{len(RULES)} rules, {workloads} workload{'s' if workloads != 1 else ''}"
    return Checked(
        verdict=overall_verdict(placing, found),
        diagnostics=order_findings(found),
        workloads=workloads,
        passed=f"No rule is broken: {counted}.",
    )


_RULE_IDS = frozenset(rule.id for rule in RULES)


def _with_embedded(inputs: Inputs) -> tuple[Inputs, tuple[Diagnostic, ...]]:
    """Return inputs with pages and scripts replaced by the manifests in them, and findings on their commands."""
    if not any(has_embedded(source.name) for source in inputs.sources):
        return inputs, ()
    from dra_planner.manifests.commands import command_findings
    from dra_planner.manifests.embedded import read_embedded

    sources: list[Source] = []
    found: list[Diagnostic] = []
    for source in inputs.sources:
        if not has_embedded(source.name):
            sources.append(source)
            continue
        page = read_embedded(source)
        found += command_findings(page.commands, source.name)
        sources.append(page.manifests)
    return replace(inputs, sources=tuple(sources)), tuple(found)


def _view(inputs: Inputs) -> tuple[StackView, Verdict]:
    if inputs.fleet is None and not inputs.observed:
        features = features_of(parse_version(inputs.kubernetes) if inputs.kubernetes else MAXIMUM_MINOR)
        return view_of(read_checked(inputs.sources, features), features), "fits"
    from dra_planner.plan import make_plan  # only with pools to judge by

    plan = make_plan(
        PlanRequest(sources=inputs.sources, fleet=inputs.fleet, observed=inputs.observed, kubernetes=inputs.kubernetes)
    )
    assert plan.manifests is not None  # make_plan keeps what it read
    return view_of(plan.manifests, features_of(parse_version(plan.kubernetes)), plan), plan.verdict
