"""`pulumi-dra rehearse --migration`: run the steps of a migration on the real scheduler."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.pens.terminal.page import Page
from dra_command.rehearse.contract import RehearsedStepRow, RehearseMigrationOutput
from dra_planner.clouds import cloud
from dra_planner.migration import plan_steps
from dra_planner.releases import parse_version
from dra_planner.wording import counted
from dra_sandbox.control_plane import ApiRejection, ControlPlaneError, Settings, control_plane
from dra_sandbox.progress import step as progress_step
from dra_sandbox.rehearsal import NotThrowAway, RehearsedStep, borrowed_cluster, rehearse_steps
from dra_sandbox.tools import ToolUnavailable
from dra_sandbox.tools.kubernetes import find_binaries


def rehearse_migration(values: argparse.Namespace, inputs: CommandInputs) -> int:
    """Print the scheduler's result for each step. Return 0 if every pod gets a node in all steps, 1
    if not, and 3 if that's unknown.
    """
    if inputs.fleet is None:
        raise UsageError("--migration requires a fleet", fix="add --fleet FILE or --stack NAME")
    if values.format not in ("text", "json") or values.scenario:
        raise UsageError(
            "--migration supports only text and JSON output, and can't be combined with --scenario",
            fix="remove --scenario, and use --format text or --format json",
        )
    steps = plan_steps(inputs.sources, inputs.fleet, kubernetes=inputs.kubernetes).steps
    minor = parse_version(inputs.kubernetes or inputs.fleet.kubernetes)
    try:
        if values.kubeconfig:
            borrow = partial(borrowed_cluster, Path(values.kubeconfig), values.context, minor)
            found = tuple(rehearse_steps(borrow, steps, inputs.kubernetes, values.time_limit))
        else:
            binaries = find_binaries(minor, Path(values.binaries) if values.binaries else None)
            title = f"rehearsing {counted(len(steps), 'step')} on Kubernetes {binaries.version}"
            tolerates = cloud(inputs.fleet.cloud).tolerates_extended_resources
            settings = Settings(
                minor,
                gates=inputs.fleet.feature_gates,
                served=inputs.fleet.features_at(minor).served,
                tolerates_extended_resources=tolerates,
            )
            start = partial(control_plane, settings, binaries)
            with progress_step(title):
                found = tuple(rehearse_steps(start, steps, inputs.kubernetes, values.time_limit))
    except NotThrowAway as error:
        raise UsageError(str(error)) from error
    except (ToolUnavailable, ControlPlaneError, ApiRejection) as error:
        raise UsageError(f"the migration can't be rehearsed: {error}") from error
    _print(found, values)
    if any(each.pending for each in found):
        return Status.BROKEN
    return Status.FITS if all(each.decided for each in found) else Status.CANNOT_TELL


def _print(found: tuple[RehearsedStep, ...], values: argparse.Namespace) -> None:
    if values.format == "json":
        print(
            RehearseMigrationOutput(steps=[_row(each) for each in found]).model_dump_json(indent=2)
        )
        return
    with Page() as page:
        if not found:
            page.text(
                "Nothing to rehearse: the fleet doesn't have a pool with allocation: device-plugin."
            )
            return
        pending = [str(each.step.number) for each in found if each.pending]
        page.text(
            f"Pods are pending in step {', '.join(pending)}."
            if pending
            else "All pods were placed in every step."
        )
        rows = [
            (
                each.step.folder,
                str(each.placed),
                str(each.pending),
                "safe" if each.step.is_safe else "not proven",
                "" if each.decided else "time limit reached",
            )
            for each in found
        ]
        page.table(("Step", "placed", "pending", "plan", ""), rows, numbers=(1, 2))


def _row(each: RehearsedStep) -> RehearsedStepRow:
    return RehearsedStepRow(
        step=each.step.folder,
        placed=each.placed,
        pending=each.pending,
        is_safe=each.step.is_safe,
        decided=each.decided,
    )
