"""The options of `catalog`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_choice, add_cluster


def add_options(parser: argparse.ArgumentParser) -> None:
    add_choice(
        parser,
        "table",
        ("machines", "gpus", "mig", "drivers", "releases", "outdated", "add"),
        "table to print, or `add` to add facts from running nodes",
    )
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        default=[],
        help="print only rows that contain all words",
    )
    parser.add_argument(
        "--cloud", metavar="CLOUD", default="", help="print only machine types of this cloud"
    )
    parser.add_argument(
        "--region", default="", help="print availability and on-demand prices in this region"
    )
    parser.add_argument(
        "--today",
        metavar="DATE",
        default="",
        help="check whether facts are outdated on this date [default: today]",
    )
    nodes = parser.add_argument_group("facts from running nodes (catalog add)")
    sources = nodes.add_mutually_exclusive_group()
    sources.add_argument(
        "--from", metavar="FILE", dest="observed", help="snapshot with nodes and ResourceSlices"
    )
    add_cluster(sources, parser)
    nodes.add_argument(
        "--fleet",
        metavar="FILE",
        default="",
        help="fleet file to add the rows to [default: print the rows]",
    )
    nodes.add_argument(
        "--machine",
        metavar="TYPE",
        default="",
        help="machine type of nodes without the instance-type label",
    )
    nodes.add_argument(
        "--kubernetes",
        metavar="VERSION",
        default="",
        help="cluster version [default: newest]",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="default: %(default)s"
    )
