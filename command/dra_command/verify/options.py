"""The options of `verify`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_cluster
from dra_planner.documents.snapshot import VERIFIER_ROLE


def add_options(parser: argparse.ArgumentParser) -> None:
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("--observed", metavar="FILE", help="snapshot of the cluster")
    add_cluster(cluster, parser, VERIFIER_ROLE)
    pools = parser.add_mutually_exclusive_group()
    pools.add_argument("--fleet", metavar="FILE", help="fleet file")
    pools.add_argument(
        "--stack", metavar="NAME", help="read fleet and workloads from stacks/Pulumi.NAME.yaml"
    )
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        help="check against this Kubernetes version instead of the fleet's",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="default: %(default)s"
    )
    parser.add_argument(
        "--allow-unknown", action="store_true", help="exit with 0 if no node is comparable"
    )
