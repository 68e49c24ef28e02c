"""`pulumi-dra sandbox`: run the whole stack on simulated clouds, with the package dra_sandbox."""

from __future__ import annotations

import argparse

from dra_command.command_line.arguments import UsageError, require_sandbox
from dra_command.pens.visible_text import visible

_LONGEST_WORD = 4_096  # pattern of a path


def run(values: argparse.Namespace) -> int:
    """Pass the arguments to the sandbox. Raises UsageError if the sandbox isn't installed."""
    require_sandbox("the sandbox", "pulumi", "grpc", "psutil", "cryptography")
    for word in values.words:
        if not word.isprintable() or len(word) > _LONGEST_WORD:
            raise UsageError(
                f'"{visible(word)}" isn\'t a stack, folder, or version',
                fix="see `pulumi-dra sandbox --help`",
            )
    from dra_sandbox.__main__ import main

    try:
        return main(values.words)
    except SystemExit as stop:  # the sandbox's own parser has printed its help or an error
        return stop.code if isinstance(stop.code, int) else 0
