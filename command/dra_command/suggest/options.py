"""The options of `suggest`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, of_a_stack=False)
    parser.add_argument("--cloud", metavar="CLOUD", default="", help="default: the one that has the region")
    parser.add_argument("--region", required=True, help="region whose machines and on-demand prices are compared")
    parser.add_argument("--kubernetes", metavar="VERSION", default="", help="default: 1.34, or later where that ends")
    parser.add_argument(
        "--machines", metavar="TYPE[,TYPE…]", action="append", default=[], help="compare only these, repeatable"
    )
    parser.add_argument("--max-price", metavar="USD", default="", help="no machine dearer than this per hour")
    parser.add_argument(
        "--demand",
        choices=("floor", "steady", "ceiling", "peak"),
        default="steady",
        help="which demand to buy for (default: %(default)s)",
    )
    parser.add_argument(
        "--format",
        choices=("yaml", "json"),
        default="yaml",
        help="a fleet document with comments, or all fleets compared as JSON (default: %(default)s)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
