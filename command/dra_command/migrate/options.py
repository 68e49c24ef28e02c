"""The options of `migrate`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_cluster, add_fleet, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_fleet(parser)
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        help="Kubernetes version of the target cluster [default: the fleet's version; "
        "otherwise the newest known version]",
    )
    _add_source(parser)
    parser.add_argument(
        "--keep",
        metavar="NAMESPACE/NAME",
        action="append",
        default=[],
        help="keep a workload on the device plugin; repeatable",
    )
    stepwise = parser.add_argument_group("the migration step by step")
    stepwise.add_argument(
        "--steps",
        action="store_true",
        help="plan the pools, nodes, moves, and cost of each step, with the commands to run the "
        "step and to roll it back (needs --fleet)",
    )
    stepwise.add_argument(
        "--steps-folder",
        metavar="FOLDER",
        default="",
        help="with --steps, write the plan files, manifests, and commands for each step to FOLDER",
    )
    parser.add_argument(
        "--write", action="store_true", help="change the files [default: print a diff]"
    )
    parser.add_argument(
        "--format", choices=("text", "json", "diff"), default="text", help="default: %(default)s"
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument(
        "-q", "--quiet", action="store_true", help="print only workloads that can't migrate"
    )
    loudness.add_argument(
        "-v", "--verbose", action="store_true", help="print every note and alternative"
    )
    parser.set_defaults(exclude=[], stdin_name="")


def _add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options of the cluster that runs the workloads now."""
    source = parser.add_argument_group(
        "the source cluster",
        "settings of the device plugin; without PATH, the command prints a cluster report",
    )
    source.add_argument(
        "--observed",
        metavar="FILE",
        help="snapshot of the source cluster's nodes and ConfigMaps (kubectl get nodes,cm -A "
        "-o json); a report needs all kinds in `verify --help`",
    )
    add_cluster(source, parser)
    source.add_argument(
        "--shared",
        metavar="RESOURCE=N",
        action="append",
        default=[],
        help="number of units into which the plugin time-slices each device; repeatable",
    )
    source.add_argument(
        "--mig-profile",
        metavar="PROFILE",
        default="",
        help="MIG profile, if nvidia.com/gpu is a MIG device, for example 1g.5gb",
    )
