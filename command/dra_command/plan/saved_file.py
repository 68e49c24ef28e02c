"""The options `--write` and `--check`: the file of a saved plan."""

from __future__ import annotations

import argparse

from dra_command.command_line.arguments import UsageError


def saved_file(values: argparse.Namespace) -> str | None:
    """Return the file in --write or --check, "" for the stack's own plan file, or None without
    these options.
    """
    file: str | None = values.check if values.write is None else values.write
    return file


def check_saved_file(values: argparse.Namespace) -> None:
    """Raise UsageError if --write or --check needs a file name, or if this plan isn't the one to
    save.
    """
    file, option = saved_file(values), "--check" if values.write is None else "--write"
    if file is None:
        return
    if not (values.stack or (file and values.fleet)):
        raise UsageError(
            f"{option} needs --stack, or a file and --fleet",
            fix=f"use `plan --stack NAME {option}`, or `plan PATH --fleet FILE {option} plan.json`",
        )
    if values.stack and file:
        raise UsageError(
            f"{option} uses the stack's plan file, so FILE isn't supported",
            fix=f"remove {file}, or use --fleet instead of --stack",
        )
    owner = "stack" if values.stack else "fleet"
    odd = {"--kubernetes": values.kubernetes, "--observed": values.observed}
    if values.stack:
        odd = {"PATH": values.paths, **odd}
    for name in (name for name, value in odd.items() if value):
        raise UsageError(
            f"{option} uses the {owner}'s settings, so {name} isn't supported",
            fix=f"remove {name}, or change the {owner}'s settings",
        )
