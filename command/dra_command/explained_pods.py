"""`pulumi-dra explain --pod`: why a pod fits or not among all other workloads."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dra_command.arguments import UsageError
from dra_command.inputs import Inputs, read_inputs, tell_left_alone
from dra_command.progress import doing
from dra_command.status import status_of
from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change
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
        from dra_command.formats.pod_json import pod_json

        print(pod_json(pods, asked))
    else:
        from dra_command.formats.pod_text import print_pods

        print_pods(pods, asked, quiet=values.quiet)
    return status_of(worst(each.verdict for each in pods), allow_unknown=values.allow_unknown)


def refuse_format(values: argparse.Namespace, option: str) -> None:
    """Raise UsageError for a format in which the answer to an option is not told."""
    if values.format not in ("text", "json"):
        raise UsageError(f"{option} is not told in {values.format}", fix="leave --format out, or give --format json")


def planned(inputs: Inputs, fleet: Fleet | None) -> Plan:
    """Return the plan of what was read, on a fleet or on the snapshot."""
    return make_plan(
        PlanRequest(sources=inputs.sources, fleet=fleet, observed=inputs.observed, kubernetes=inputs.kubernetes)
    )


def _explained(inputs: Inputs, values: argparse.Namespace) -> tuple[Sequence[PodExplanation], WhatIf | None]:
    changes = tuple(map(read_change, values.what_if))
    if not changes:
        return explain_pod(planned(inputs, inputs.fleet).judgement, values.pod, values.pool), None
    if inputs.fleet is None:
        raise UsageError("--what-if changes a fleet; a snapshot is judged as it is", fix="give --fleet or --stack")
    if inputs.kubernetes and any(change.path == "kubernetes" for change in changes):
        raise UsageError("--what-if names the release, and --kubernetes too", fix="leave --kubernetes out")
    pods = explain_pod(planned(inputs, change_fleet(inputs.fleet, changes)).judgement, values.pod, values.pool)
    before = explain_pod(planned(inputs, inputs.fleet).judgement, values.pod, values.pool)
    return pods, WhatIf(changes=tuple(map(str, changes)), verdict_before=worst(each.verdict for each in before))
