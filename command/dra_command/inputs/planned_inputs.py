"""The plan for the inputs that a command line names."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from dra_command.command_line.progress import doing
from dra_command.inputs.command_inputs import CommandInputs, read_inputs, require_manifests
from dra_command.inputs.guard_components import find_outdated_guards
from dra_command.inputs.readable_manifests import evaluate_readable, require_objects
from dra_planner.clouds import cloud
from dra_planner.errors import Diagnostic, FleetError, ManifestError, SourceError
from dra_planner.model import DemandLevel
from dra_planner.plan import Plan, PlanRequest, make_plan, overall_verdict
from dra_planner.plan.model import SIMULATED_STEPS


def request_of(
    inputs: CommandInputs, level: DemandLevel, steps: int = SIMULATED_STEPS
) -> PlanRequest:
    """Return the request for a plan of the inputs, sized for a demand."""
    return PlanRequest(
        sources=inputs.sources,
        fleet=inputs.fleet,
        observed=inputs.observed,
        kubernetes=inputs.kubernetes,
        paths=inputs.paths,
        level=level,
        steps=steps,
    )


def plan_inputs(
    values: argparse.Namespace, request_for: Callable[[CommandInputs], PlanRequest]
) -> tuple[CommandInputs, Plan]:
    """Return the inputs that the options name, and their plan. Raises PlannerError if nothing can
    be planned. In a folder, files that can't be read become findings, and the verdict is not
    *fits*.
    """
    inputs, plan, findings = plan_readable(values, request_for)
    _check_pod_range(plan)
    outdated = tuple(find_outdated_guards(inputs.guards_files, plan, inputs.stack))
    if not findings and not outdated:
        return inputs, plan
    placing = overall_verdict(plan.placing, outdated)
    diagnostics = (*plan.diagnostics, *findings, *outdated)
    return inputs, replace(plan, placing=placing, diagnostics=diagnostics)


def plan_readable(
    values: argparse.Namespace,
    request_for: Callable[[CommandInputs], PlanRequest],
    action: str = "planning",
) -> tuple[CommandInputs, Plan, tuple[Diagnostic, ...]]:
    """Return the same as `plan_inputs`, with the findings as a separate value, for plans that
    nobody builds.
    """
    # if the user names files, they must be manifests
    is_lenient = any(Path(path).is_dir() for path in values.paths)
    given = read_inputs(values, needs_capacity=True, is_lenient=is_lenient)
    try:
        inputs = require_manifests(given, values.command) if is_lenient else given
        require_objects(inputs, values.command)
        request = request_for(inputs)
        with doing(action, quiet=values.quiet):
            plan = make_plan(request)
    except (SourceError, ManifestError):
        if not is_lenient:
            raise
        return _plan_leniently(given, request_for, values.command)
    return inputs, plan, inputs.left_alone


def _plan_leniently(
    inputs: CommandInputs, request_for: Callable[[CommandInputs], PlanRequest], command: str
) -> tuple[CommandInputs, Plan, tuple[Diagnostic, ...]]:
    """Plan the readable files. The needs of unreadable files are unknown. Raises PlannerError if no
    file can be read.
    """
    read = evaluate_readable(inputs, lambda given: make_plan(request_for(given)), command)
    plan = read.answer
    if plan.running == "fits" and any(finding.severity == "error" for finding in read.findings):
        plan = replace(plan, placing="cannot-tell")
    return read.inputs, plan, read.findings


def _check_pod_range(plan: Plan) -> None:
    """Raise FleetError if the range for pods is too small for the nodes that would be built.

    If an autoscaler can change the node counts later, the maximum counts, because the cloud also
    checks the maximum. If the fleet has a quota of addresses, the plan already respects this quota.
    """
    fleet = plan.fleet
    if fleet is None or plan.judgement.is_observed or plan.running != "fits":
        return
    if any(quota.unit == "pod-addresses" for quota in fleet.quotas):
        return
    place, kept = cloud(fleet.cloud), not fleet.is_autoscaled
    nodes = [
        (pool.nodes.desired if kept else pool.nodes.maximum, fleet.pool(pool.name).max_pods)
        for pool in plan.pools
    ]
    if fault := place.pods_range_fault(place.pods_range, nodes, fleet.system_pool.count):
        raise FleetError(fault.problem, fix=fault.fix)
