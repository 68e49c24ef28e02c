"""More options of `explain`: changed values of the fleet, and the output format."""

from __future__ import annotations

import argparse

from dra_command.command_line.arguments import UsageError
from dra_command.inputs.command_inputs import CommandInputs
from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change


def require_text_or_json(values: argparse.Namespace, option: str) -> None:
    """Raise UsageError for a format that doesn't support an option's answer."""
    if values.format not in ("text", "json"):
        raise UsageError(
            f"{option} doesn't support --format {values.format}",
            fix="remove --format, or use --format json",
        )


def changed_fleet(
    inputs: CommandInputs, values: argparse.Namespace
) -> tuple[Fleet | None, tuple[str, ...]]:
    """Return the fleet with the values of --what-if, and the changes. Raises UsageError if they are
    invalid.
    """
    changes = tuple(map(read_change, values.what_if))
    if not changes:
        return inputs.fleet, ()
    if inputs.fleet is None:
        raise UsageError(
            "--what-if changes a fleet, not a snapshot",
            fix="use --fleet or --stack",
        )
    if inputs.kubernetes and any(change.path == "kubernetes" for change in changes):
        raise UsageError(
            "both --what-if and --kubernetes set the version", fix="remove --kubernetes"
        )
    return change_fleet(inputs.fleet, changes), tuple(map(str, changes))
