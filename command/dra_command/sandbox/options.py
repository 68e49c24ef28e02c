"""The arguments of `sandbox`, which has its own command line."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    description = "subcommand (up, plan, status, logs, down, demo, or tools), with its options"
    parser.add_argument("words", metavar="WORD", nargs=argparse.REMAINDER, help=description)
