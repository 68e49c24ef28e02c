"""The options of `verify`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_cluster


def add_options(parser: argparse.ArgumentParser) -> None:
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("--observed", metavar="FILE", help="snapshot of the cluster")
    add_cluster(cluster, parser)
    pools = parser.add_mutually_exclusive_group()
    pools.add_argument("--fleet", metavar="FILE", help="fleet document")
    pools.add_argument("--stack", metavar="NAME", help="stack of this project")
    parser.add_argument("--kubernetes", metavar="VERSION", help="judge for this release instead of the fleet's")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")
    parser.add_argument("--allow-unknown", action="store_true", help="exit 0 when no node could be compared")
