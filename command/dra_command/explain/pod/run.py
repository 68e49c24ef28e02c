"""`pulumi-dra explain --pod`: explain why a pod fits or doesn't fit, taking all other workloads
into account.
"""

from __future__ import annotations

import argparse
import sys

from dra_command.command_line.exit_status import status_of
from dra_command.explain.explained_plan import plan_to_explain
from dra_command.explain.pod.json import pod_json
from dra_command.explain.pod.text import print_pods
from dra_command.explain.what_if import require_text_or_json
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.pens.visible_text import visible
from dra_command.plan_report.explain_commands import TERM_BY_TERM, explain_command
from dra_planner.fleet import Fleet
from dra_planner.model import worst
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.explanation.claims import WhatIf
from dra_planner.plan.explanation.pods import explain_pod_of_plan


def explain_pods(values: argparse.Namespace) -> int:
    """Explain the pod, on the fleet with the values of --what-if, and return the exit status of its
    verdict.
    """
    require_text_or_json(values, "--pod")
    plan, before, changes = plan_to_explain(values)
    pods = explain_pod_of_plan(plan, values.pod, values.pool)
    what_if = None
    if before is not None:
        old = explain_pod_of_plan(before, values.pod, values.pool)
        what_if = WhatIf(changes=changes, verdict_before=worst(each.verdict for each in old))
    if values.format == "json":
        print(pod_json(pods, what_if))
    else:
        claims = {pod.claims[0]: None for pod in pods if pod.claims}
        print_pods(pods, what_if, quiet=values.quiet)
        for claim in () if values.quiet else claims:
            command = explain_command(values, "--claim", claim)
            print(visible(f"{TERM_BY_TERM}: {command}"), file=sys.stderr)
    verdict = worst(each.verdict for each in pods)
    return status_of(verdict, plan.diagnostics, allow_unknown=values.allow_unknown)


def make_plan_of(inputs: CommandInputs, fleet: Fleet | None) -> Plan:
    """Return the plan for these inputs, on the fleet or on the snapshot."""
    return make_plan(
        PlanRequest(
            sources=inputs.sources,
            fleet=fleet,
            observed=inputs.observed,
            kubernetes=inputs.kubernetes,
        )
    )
