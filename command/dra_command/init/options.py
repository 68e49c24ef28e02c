"""The options of `init`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_cluster


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="where to write (default: here)")
    parser.add_argument(
        "--region",
        metavar="REGION",
        default="",
        help="region of a new cluster, on the cloud that has it; with --state that of a stack that does not say it",
    )
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--observed", metavar="FILE", default="", help="snapshot of a cluster: its GPU nodes")
    add_cluster(start, parser)
    start.add_argument("--state", metavar="FILE", default="", help="exported state of a Pulumi stack: its pools")
    start.add_argument(
        "--from",
        dest="other_tool",
        metavar="FILE",
        default="",
        help="`terraform show -json`, eksctl file, Karpenter NodePools, or Cluster API pools",
    )
    parser.add_argument(
        "--workloads",
        metavar="PATH",
        action="append",
        default=[],
        help="manifests to start with, repeatable; default: a first claim is written",
    )
    parser.add_argument("--kubernetes", metavar="VERSION", default="", help="release, where nothing says it")
    parser.add_argument(
        "--machines", metavar="TYPE[,TYPE…]", action="append", default=[], help="with --region: choose among these"
    )
    parser.add_argument("--ci", choices=("github", "gitlab", "none"), default="github", help="default: %(default)s")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
