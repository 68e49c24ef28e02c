"""The options of `diff`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_demand, add_fleet


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "before",
        metavar="BEFORE",
        help="git ref, plan file, fleet file, or name of a stack or shared fleet",
    )
    parser.add_argument(
        "after",
        metavar="AFTER",
        nargs="?",
        default="",
        help="the same kind of value as BEFORE [default with a git ref: the files in the "
        "working tree]",
    )
    add_fleet(parser)
    parser.add_argument(
        "--workloads",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help=(
            "manifests to plan with both fleets, or to read at both git refs [default with a "
            "stack: the stack's workloads]"
        ),
    )
    add_demand(parser, saved=True)
    add_answer(parser, ("text", "json", "markdown"))
