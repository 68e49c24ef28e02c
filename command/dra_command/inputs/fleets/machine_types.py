"""The machine types that `--machines` lists."""

from __future__ import annotations

import argparse

from dra_command.command_line.arguments import UsageError


def requested_machine_types(values: argparse.Namespace) -> tuple[str, ...]:
    """Return the machine types in `--machines`. Raises UsageError if it lists none."""
    machines = tuple(
        name.strip() for each in values.machines for name in each.split(",") if name.strip()
    )
    if values.machines and not machines:
        raise UsageError(
            "--machines is empty",
            fix="list at least one machine type (see `pulumi-dra catalog machines`)",
        )
    return machines
