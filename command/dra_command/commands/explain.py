"""`pulumi-dra explain`: why one claim fits or not, pool by pool and term by term; what else it explains has modules."""

from __future__ import annotations

import argparse
from dataclasses import replace

from dra_command.arguments import UsageError
from dra_command.inputs import Inputs, read_inputs, tell_left_alone
from dra_command.progress import doing
from dra_command.status import status_of
from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.explaining import Explanation, WhatIf, explain_claim


def run(values: argparse.Namespace) -> int:
    """Explain the claim, pod, pool, finding or message that is named, and return the exit status of its verdict."""
    if values.events is not None:
        from dra_command import pod_events

        return pod_events.run(values)
    if values.message is not None:
        from dra_command import field_messages

        if values.format not in ("text", "json"):
            fix = "leave --format out, or give --format json"
            raise UsageError(f"--message is not told in {values.format}", fix=fix)
        return field_messages.run(values)
    if values.pod is not None:
        from dra_command import explained_pods

        return explained_pods.run(values)
    if values.finding is not None:
        from dra_command import explained_findings

        return explained_findings.run(values)
    if values.claim is None:
        return _explain_pool(values)
    inputs = read_inputs(values, needs_capacity=True)
    tell_left_alone(inputs.left_alone, quiet=values.quiet)
    with doing("explaining", quiet=values.quiet):
        explanation = _explain_changed(inputs, values) if values.what_if else _explain(inputs, inputs.fleet, values)
    _print(explanation, values)
    return status_of(explanation.verdict, allow_unknown=values.allow_unknown)


def _explain_pool(values: argparse.Namespace) -> int:
    """Say what a pool is for, on the fleet with the values of --what-if."""
    from dra_planner.plan.explaining_pools import explain_pool

    if not values.pool:
        fix = "give --claim or --pod NAMESPACE/NAME, --finding RULE, or --pool NAME"
        raise UsageError("there is nothing to explain", fix=fix)
    if values.format not in ("text", "json"):
        raise UsageError(
            f"--pool without a claim is not told in {values.format}", fix="leave --format out, or give --format json"
        )
    inputs = read_inputs(values, needs_capacity=True)
    tell_left_alone(inputs.left_alone, quiet=values.quiet)
    changes = tuple(map(read_change, values.what_if))
    fleet = inputs.fleet
    if changes:
        if fleet is None:
            raise UsageError("--what-if changes a fleet; a snapshot is judged as it is", fix="give --fleet or --stack")
        fleet = change_fleet(fleet, changes)
    request = PlanRequest(sources=inputs.sources, fleet=fleet, observed=inputs.observed, kubernetes=inputs.kubernetes)
    with doing("explaining", quiet=values.quiet):
        report = explain_pool(make_plan(request), values.pool)
    said = tuple(map(str, changes))
    if values.format == "json":
        from dra_command.formats.pool_json import pool_json

        print(pool_json(report, said))
    else:
        from dra_command.formats.pool_text import print_pool

        print_pool(report, said, quiet=values.quiet)
    return status_of(report.verdict, allow_unknown=values.allow_unknown)


def _explain(inputs: Inputs, fleet: Fleet | None, values: argparse.Namespace) -> Explanation:
    request = PlanRequest(sources=inputs.sources, fleet=fleet, observed=inputs.observed, kubernetes=inputs.kubernetes)
    return explain_claim(make_plan(request).judgement, values.claim, values.pool)


def _explain_changed(inputs: Inputs, values: argparse.Namespace) -> Explanation:
    """Return the explanation on the fleet with the values of --what-if, with what it is on the fleet as it stands."""
    changes = tuple(map(read_change, values.what_if))
    if inputs.fleet is None:
        raise UsageError("--what-if changes a fleet; a snapshot is judged as it is", fix="give --fleet or --stack")
    if inputs.kubernetes and any(change.path == "kubernetes" for change in changes):
        raise UsageError("--what-if names the release, and --kubernetes too", fix="leave --kubernetes out")
    changed = _explain(inputs, change_fleet(inputs.fleet, changes), values)
    before = make_plan(PlanRequest(sources=inputs.sources, fleet=inputs.fleet, kubernetes=inputs.kubernetes))
    verdict = explain_claim(before.judgement, values.claim).verdict
    return replace(changed, what_if=WhatIf(changes=tuple(map(str, changes)), verdict_before=verdict))


def _print(explanation: Explanation, values: argparse.Namespace) -> None:
    match values.format:
        case "json":
            from dra_command.formats.explain_json import explain_json

            print(explain_json(explanation))
        case "markdown":
            from dra_command.formats.explain_markdown import explain_markdown

            print(explain_markdown(explanation), end="")
        case "html":
            from dra_command.formats.explain_html import explain_html

            print(explain_html(explanation), end="")
        case _:
            from dra_command.formats.explain_text import print_explanation

            print_explanation(explanation, quiet=values.quiet, verbose=values.verbose)
