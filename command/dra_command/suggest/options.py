"""The options of `suggest`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, of_a_stack=False)
    parser.add_argument(
        "--cloud",
        metavar="CLOUD",
        default="",
        help="cloud [default: the cloud that has the region]",
    )
    parser.add_argument(
        "--region",
        required=True,
        help="compare the machine types and on-demand prices in this region",
    )
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        default="",
        help="Kubernetes version [default: the newest that the cloud released at least 3 months "
        "ago]",
    )
    parser.add_argument(
        "--machines",
        metavar="TYPE[,TYPE…]",
        action="append",
        default=[],
        help="compare only these machine types; repeatable",
    )
    parser.add_argument("--max-price", metavar="USD", default="", help="maximum USD per node-hour")
    parser.add_argument(
        "--demand",
        choices=("floor", "steady", "ceiling", "peak"),
        default="steady",
        help="demand to size for [default: %(default)s]",
    )
    parser.add_argument(
        "--format",
        choices=("yaml", "json"),
        default="yaml",
        help="fleet file with comments, or all compared fleets in JSON [default: %(default)s]",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="don't print progress")
