"""`pulumi-dra sandbox`: the whole stack rehearsed here, by the package dra_sandbox."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from dra_command.arguments import UsageError
from dra_command.formats.visible import visible

_NEEDED = ("pulumi", "grpc")
_LONGEST_WORD = 4_096  # what a path may have


def run(values: argparse.Namespace) -> int:
    """Hand the words over to the sandbox; raises UsageError where it is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the sandbox needs {' and '.join(missing)}, which this installation lacks",
            fix='pip install "pulumi-dra[sandbox]"',
        )
    for word in values.words:
        if not word.isprintable() or len(word) > _LONGEST_WORD:
            raise UsageError(f'"{visible(word)}" is no stack, folder or version', fix="see `pulumi-dra sandbox --help`")
    from dra_sandbox.__main__ import main

    try:
        return main(values.words)
    except SystemExit as stop:  # its own parser has printed help, or what is wrong
        return stop.code if isinstance(stop.code, int) else 0
