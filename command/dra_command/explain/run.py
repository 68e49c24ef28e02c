"""`pulumi-dra explain`: why one claim fits or not, pool by pool and term by term; what else it
explains has modules.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import status_of
from dra_command.command_line.progress import doing
from dra_command.explain.what_if import changed_fleet, require_text_or_json
from dra_command.inputs.command_inputs import CommandInputs, print_skipped_files, read_inputs
from dra_planner.fleet import Fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.explanation.claims import ClaimExplanation, WhatIf, explain_claim


def run(values: argparse.Namespace) -> int:
    """Explain the claim, pod, pool, finding or message that is named, and return the exit status of
    its verdict.
    """
    if values.events is not None:
        from dra_command.explain.message.events import explain_events

        return explain_events(values)
    if values.message is not None:
        from dra_command.explain.message.run import explain_message

        require_text_or_json(values, "--message")
        return explain_message(values)
    if values.pod is not None:
        from dra_command.explain.pod.run import explain_pods

        return explain_pods(values)
    if values.finding is not None:
        from dra_command.explain.finding.run import explain_findings

        return explain_findings(values)
    if values.claim is None:
        return _explain_pool(values)
    inputs = read_inputs(values, needs_capacity=True)
    print_skipped_files(inputs.left_alone, quiet=values.quiet)
    with doing("explaining", quiet=values.quiet):
        explanation = _explained(inputs, values)
    _print(explanation, values)
    return status_of(explanation.verdict, allow_unknown=values.allow_unknown)


def _explain_pool(values: argparse.Namespace) -> int:
    """Say what a pool is for, on the fleet with the values of --what-if."""
    from dra_planner.plan.explanation.pools import explain_pool

    if not values.pool:
        fix = "give --claim or --pod NAMESPACE/NAME, --finding RULE, or --pool NAME"
        raise UsageError("there is nothing to explain", fix=fix)
    require_text_or_json(values, "--pool without a claim")
    inputs = read_inputs(values, needs_capacity=True)
    print_skipped_files(inputs.left_alone, quiet=values.quiet)
    fleet, changes = changed_fleet(inputs, values)
    request = PlanRequest(
        sources=inputs.sources, fleet=fleet, observed=inputs.observed, kubernetes=inputs.kubernetes
    )
    with doing("explaining", quiet=values.quiet):
        report = explain_pool(make_plan(request), values.pool)
    if values.format == "json":
        from dra_command.explain.pool.json import pool_json

        print(pool_json(report, changes))
    else:
        from dra_command.explain.pool.text import print_pool

        print_pool(report, changes, quiet=values.quiet)
    return status_of(report.verdict, allow_unknown=values.allow_unknown)


def _explain(
    inputs: CommandInputs, fleet: Fleet | None, values: argparse.Namespace
) -> ClaimExplanation:
    request = PlanRequest(
        sources=inputs.sources, fleet=fleet, observed=inputs.observed, kubernetes=inputs.kubernetes
    )
    return explain_claim(make_plan(request).judgement, values.claim, values.pool)


def _explained(inputs: CommandInputs, values: argparse.Namespace) -> ClaimExplanation:
    """Return the explanation; on a fleet with the values of --what-if, with what it is on the fleet
    as it stands.
    """
    fleet, changes = changed_fleet(inputs, values)
    explanation = _explain(inputs, fleet, values)
    if not changes:
        return explanation
    before = make_plan(
        PlanRequest(sources=inputs.sources, fleet=inputs.fleet, kubernetes=inputs.kubernetes)
    )
    verdict = explain_claim(before.judgement, values.claim).verdict
    return replace(explanation, what_if=WhatIf(changes=changes, verdict_before=verdict))


def _print(explanation: ClaimExplanation, values: argparse.Namespace) -> None:
    match values.format:
        case "json":
            from dra_command.claim_report.json import explain_json

            print(explain_json(explanation))
        case "markdown":
            from dra_command.explain.claim.markdown import explain_markdown

            print(explain_markdown(explanation), end="")
        case "html":
            from dra_command.explain.claim.html import explain_html

            print(explain_html(explanation), end="")
        case _:
            from dra_command.explain.claim.text import print_explanation

            print_explanation(explanation, quiet=values.quiet, verbose=values.verbose)
