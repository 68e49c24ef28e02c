"""`pulumi-dra explain`: explain why a claim fits or doesn't fit, by pool and condition. The other
explanations have their own modules.
"""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import status_of
from dra_command.explain.explained_plan import plan_to_explain
from dra_command.explain.what_if import require_text_or_json
from dra_planner.errors import PlannerError
from dra_planner.plan.explanation.claims import (
    ClaimExplanation,
    WhatIf,
    explain_claim_of_plan,
)
from dra_planner.plan.explanation.names import explainable_names, some_names


def run(values: argparse.Namespace) -> int:
    """Explain the named claim, pod, pool, finding, or message, and return the exit status of its
    verdict.
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
    plan, before, changes = plan_to_explain(values)
    explanation = explain_claim_of_plan(plan, values.claim, values.pool)
    if before is not None:
        verdict = explain_claim_of_plan(before, values.claim).verdict
        what_if = WhatIf(changes=changes, verdict_before=verdict)
        explanation = replace(explanation, what_if=what_if)
    _print(explanation, values)
    return status_of(explanation.verdict, plan.diagnostics, allow_unknown=values.allow_unknown)


def _explain_pool(values: argparse.Namespace) -> int:
    """Explain how workloads use a pool, on the fleet with the values of --what-if."""
    from dra_planner.plan.explanation.pools import compare_pool, explain_pool

    if not values.pool:
        raise _nothing_named(values)
    require_text_or_json(values, "--pool without a claim")
    plan, before, changes = plan_to_explain(values)
    report = explain_pool(plan, values.pool)
    if before is not None:
        report = compare_pool(report, explain_pool(before, values.pool), plan)
    if values.format == "json":
        from dra_command.explain.pool.json import pool_json

        print(pool_json(report, changes))
    else:
        from dra_command.explain.pool.text import print_pool

        print_pool(report, changes, quiet=values.quiet)
    return status_of(report.verdict, plan.diagnostics, allow_unknown=values.allow_unknown)


def _nothing_named(values: argparse.Namespace) -> UsageError:
    """Return the error with the names that can be explained, if the options name the workloads to
    plan.
    """
    fix = "use --claim or --pod NAMESPACE/NAME, --finding RULE, --pool NAME, or --message TEXT"
    lists: tuple[PlannerError, ...] = ()
    if values.stack or ((values.paths or values.observed) and (values.fleet or values.observed)):
        names = explainable_names(plan_to_explain(values)[0].judgement)
        lists = tuple(
            PlannerError(f"{option} accepts {some_names(known)}")
            for option, known in (
                ("--claim", names.claims),
                ("--pod", names.pods),
                ("--pool", names.pools),
            )
        )
    return UsageError(
        "`explain` needs a claim, pod, finding, pool, or message", fix=fix, others=lists
    )


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
