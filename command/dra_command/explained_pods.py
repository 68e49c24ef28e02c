"""`pulumi-dra explain --pod`: why a pod fits or not among all other workloads."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dra_command.formats.pod_json import pod_json
from dra_command.formats.pod_text import print_pods
from dra_command.inputs import Inputs, read_inputs, tell_left_alone
from dra_command.progress import doing
from dra_command.status import status_of
from dra_command.what_if import changed_fleet, refuse_format
from dra_planner.fleet import Fleet
from dra_planner.model import worst
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.explaining import WhatIf
from dra_planner.plan.explaining_pods import PodExplanation, explain_pod


def run(values: argparse.Namespace) -> int:
    """Explain the pod, on the fleet with the values of --what-if, and return the exit status of its verdict."""
    refuse_format(values, "--pod")
    inputs = read_inputs(values, needs_capacity=True)
    tell_left_alone(inputs.left_alone, quiet=values.quiet)
    with doing("explaining", quiet=values.quiet):
        pods, asked = _explained(inputs, values)
    if values.format == "json":
        print(pod_json(pods, asked))
    else:
        print_pods(pods, asked, quiet=values.quiet)
    return status_of(worst(each.verdict for each in pods), allow_unknown=values.allow_unknown)


def planned(inputs: Inputs, fleet: Fleet | None) -> Plan:
    """Return the plan of what was read, on a fleet or on the snapshot."""
    return make_plan(
        PlanRequest(sources=inputs.sources, fleet=fleet, observed=inputs.observed, kubernetes=inputs.kubernetes)
    )


def _explained(inputs: Inputs, values: argparse.Namespace) -> tuple[Sequence[PodExplanation], WhatIf | None]:
    fleet, changes = changed_fleet(inputs, values)
    pods = explain_pod(planned(inputs, fleet).judgement, values.pod, values.pool)
    if not changes:
        return pods, None
    before = explain_pod(planned(inputs, inputs.fleet).judgement, values.pod, values.pool)
    return pods, WhatIf(changes=changes, verdict_before=worst(each.verdict for each in before))
