"""The options of `catalog`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_choice


def add_options(parser: argparse.ArgumentParser) -> None:
    add_choice(parser, "table", ("machines", "gpus", "mig", "drivers", "releases", "outdated"), "what to list")
    parser.add_argument("words", metavar="WORD", nargs="*", default=[], help="only rows that hold every word")
    parser.add_argument("--cloud", metavar="CLOUD", default="", help="machines of this cloud only")
    parser.add_argument("--region", default="", help="also the on-demand price of machines in this region")
    parser.add_argument("--today", metavar="DATE", default="", help="day for outdated facts [default: today]")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")
