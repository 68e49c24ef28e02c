"""`pulumi-dra explain --pod`: why a pod fits or not among all other workloads."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dra_command.command_line.exit_status import status_of
from dra_command.command_line.progress import doing
from dra_command.explain.pod.json import pod_json
from dra_command.explain.pod.text import print_pods
from dra_command.explain.what_if import changed_fleet, require_text_or_json
from dra_command.inputs.command_inputs import CommandInputs, print_skipped_files, read_inputs
from dra_planner.fleet import Fleet
from dra_planner.model import worst
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.explanation.claims import WhatIf
from dra_planner.plan.explanation.pods import PodExplanation, explain_pod_of_plan


def explain_pods(values: argparse.Namespace) -> int:
    """Explain the pod, on the fleet with the values of --what-if, and return the exit status of its
    verdict.
    """
    require_text_or_json(values, "--pod")
    inputs = read_inputs(values, needs_capacity=True)
    print_skipped_files(inputs.left_alone, quiet=values.quiet)
    with doing("explaining", quiet=values.quiet):
        pods, asked = _explained(inputs, values)
    if values.format == "json":
        print(pod_json(pods, asked))
    else:
        print_pods(pods, asked, quiet=values.quiet)
    return status_of(worst(each.verdict for each in pods), allow_unknown=values.allow_unknown)


def make_plan_of(inputs: CommandInputs, fleet: Fleet | None) -> Plan:
    """Return the plan of what was read, on a fleet or on the snapshot."""
    return make_plan(
        PlanRequest(
            sources=inputs.sources,
            fleet=fleet,
            observed=inputs.observed,
            kubernetes=inputs.kubernetes,
        )
    )


def _explained(
    inputs: CommandInputs, values: argparse.Namespace
) -> tuple[Sequence[PodExplanation], WhatIf | None]:
    fleet, changes = changed_fleet(inputs, values)
    pods = explain_pod_of_plan(make_plan_of(inputs, fleet), values.pod, values.pool)
    if not changes:
        return pods, None
    before = explain_pod_of_plan(make_plan_of(inputs, inputs.fleet), values.pod, values.pool)
    return pods, WhatIf(changes=changes, verdict_before=worst(each.verdict for each in before))
