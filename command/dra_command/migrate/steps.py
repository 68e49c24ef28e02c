"""`pulumi-dra migrate --steps`: the whole migration, planned step by step."""

from __future__ import annotations

import argparse
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.migrate.steps_json import steps_json
from dra_command.migrate.steps_text import print_steps
from dra_planner.errors import SourceError
from dra_planner.migration import MigrationSteps, PluginFacts, plan_steps, step_files


def run_steps(values: argparse.Namespace, inputs: CommandInputs, facts: PluginFacts) -> int:
    """Print the steps or write their files; return 0 if all are safe, 1 if pods stay pending, 3 if
    unknown.

    Raises UsageError without a fleet.
    """
    if inputs.fleet is None:
        raise UsageError("--steps requires a fleet", fix="add --fleet FILE or --stack NAME")
    if values.write or values.format == "diff":
        raise UsageError(
            "--steps doesn't change manifests",
            fix="use --steps-folder FOLDER to write each step's files",
        )
    found = plan_steps(
        tuple(each for each in inputs.sources if not each.left_alone and each.absent is None),
        inputs.fleet,
        facts=facts,
        keep=frozenset(values.keep),
        kubernetes=values.kubernetes or "",
    )
    if values.steps_folder:
        _write(found, Path(values.steps_folder))
    if values.format == "json":
        print(steps_json(found))
    else:
        print_steps(found, folder=values.steps_folder, quiet=values.quiet, verbose=values.verbose)
    if found.is_safe:
        return Status.FITS
    return Status.BROKEN if any(step.pending for step in found.steps) else Status.CANNOT_TELL


def _write(found: MigrationSteps, folder: Path) -> None:
    for step in found.steps:
        own = folder / step.folder
        own.mkdir(parents=True, exist_ok=True)
        for name, text in step_files(step).items():
            write_whole(own / name, text, SourceError)
