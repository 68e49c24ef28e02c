"""The options of `explain`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_capacity, add_config, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    # options that `check` reads in addition to its inputs
    parser.set_defaults(exclude=[], stdin_name="<stdin>", today="")
    add_paths(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--claim",
        metavar="NAMESPACE/NAME",
        help="claim to explain; if a template generates the claim, its name is WORKLOAD-ENTRY, "
        "where ENTRY is the name in resourceClaims",
    )
    what.add_argument(
        "--pod",
        metavar="NAMESPACE/NAME",
        help="pod or workload to explain; prints the result for each pool, the pods that use "
        "the requested devices, and the smallest change that makes the pod fit",
    )
    what.add_argument(
        "--finding",
        metavar="RULE|FILE:LINE",
        help="finding of `check` to explain; prints the rule, the fix, and, with a fleet, "
        "why the pods fit or don't fit",
    )
    what.add_argument(
        "--message",
        metavar="TEXT",
        help="error or event message from Kubernetes, a driver, or a chart, or - for standard input",
    )
    what.add_argument(
        "--events",
        metavar="NAMESPACE/POD",
        help="explain the events and conditions of a pod in the snapshot (--observed)",
    )
    parser.add_argument(
        "--pool",
        metavar="NAME",
        default="",
        help="explain only this pool; without a claim, list the workloads that run, could run, or "
        "can't run in the pool, with reasons",
    )
    parser.add_argument(
        "--what-if",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="change this fleet value first, for example pools.l4.count.max=8, kubernetes=1.36, "
        "or driver=0.4.1; repeatable",
    )
    add_capacity(parser)
    add_config(parser)
    add_answer(
        parser, ("text", "json", "markdown", "html"), "only --claim supports markdown and html; "
    )
