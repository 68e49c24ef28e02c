"""The options of `explain`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_capacity, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    # what check reads beside its inputs
    parser.set_defaults(exclude=[], stdin_name="<stdin>", config="", today="")
    add_paths(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--claim",
        metavar="NAMESPACE/NAME",
        help="claim to explain; the claim of a template is named WORKLOAD-ENTRY, after its entry in "
        "resourceClaims",
    )
    what.add_argument(
        "--pod",
        metavar="NAMESPACE/NAME",
        help="pod or workload to explain: the answer of each pool, the pods that use the requested "
        "devices, and the smallest change that makes it fit",
    )
    what.add_argument(
        "--finding",
        metavar="RULE|FILE:LINE",
        help="finding of check to explain: the rule, its fix, and, with a fleet, why its pods fit "
        "or not",
    )
    what.add_argument(
        "--message",
        metavar="TEXT",
        help="error or event message of Kubernetes, a driver, or a chart; - reads standard input",
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
        help="explain only this pool; without a claim, list the workloads that run on the pool, "
        "that "
        "could, and that can't, with reasons",
    )
    parser.add_argument(
        "--what-if",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="change this value of the fleet first; repeatable: pools.l4.count.max=8, "
        "kubernetes=1.36, driver=0.4.1",
    )
    add_capacity(parser)
    add_answer(parser, ("text", "json", "markdown", "html"))
