"""The options of `export`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_fleet
from dra_planner.clouds.foreign.export import EXPORTS


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to", choices=tuple(EXPORTS), required=True, help="format to export the pools to"
    )
    add_fleet(parser)
    parser.add_argument(
        "--cluster",
        metavar="NAME",
        default="",
        help="name of the cluster [default: the stack's name]",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="don't print notes")
