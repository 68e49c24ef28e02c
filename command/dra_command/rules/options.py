"""The options of `rules`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_capacity, add_choice, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    add_choice(
        parser,
        "action",
        ("test", "objects"),
        "run the test cases of rules, or print the objects that rules can read",
    )
    add_paths(parser)
    add_capacity(parser)
    parser.add_argument(
        "--config",
        metavar="FILE",
        default="",
        help="configuration file that defines the rules [default: the nearest pulumi-dra.yaml]",
    )
    parser.add_argument(
        "--require-tests",
        action="store_true",
        help="with test, exit with 1 if a rule doesn't have test cases",
    )
    add_answer(parser, ("text", "json"))
