"""The options of `mcp`."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        metavar="FOLDER",
        default=".",
        help="serve only files in FOLDER [default: the current folder]",
    )
