"""`pulumi-dra diff`: compare two plans, print the differences, and fail if the change is worse."""

from __future__ import annotations

import argparse

from dra_command.command_line.exit_status import status_of
from dra_command.diff.comparison import read_comparison


def run(values: argparse.Namespace) -> int:
    """Print the differences, and return the exit status of the change. Raises PlannerError for
    wrong input.
    """
    found = read_comparison(values)
    match values.format:
        case "json":
            from dra_command.diff.json import diff_json  # noqa: PLC0415  (loads pydantic)

            print(diff_json(found))
        case "markdown":
            from dra_command.diff.markdown import diff_markdown  # noqa: PLC0415  (only for this format)

            print(diff_markdown(found), end="")
        case _:
            from dra_command.diff.text import print_diff  # noqa: PLC0415  (only for this format)

            print_diff(found, quiet=values.quiet, verbose=values.verbose)
    return status_of(found.difference.regression, allow_unknown=values.allow_unknown)
