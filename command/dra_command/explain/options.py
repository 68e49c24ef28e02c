"""The options of `explain`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_capacity, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(exclude=[], stdin_name="<stdin>", config="", today="")  # what check reads beside its inputs
    add_paths(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--claim", metavar="NAMESPACE/NAME", help="the claim to explain")
    what.add_argument(
        "--pod",
        metavar="NAMESPACE/NAME",
        help="a pod, or a workload by its name: what each pool says to it, who holds what it requests, and the "
        "smallest change with which it fits",
    )
    what.add_argument(
        "--finding",
        metavar="RULE|FILE:LINE",
        help="what check found: what the rule is about, its fix, and, with a fleet, why the pods that stand there fit "
        "or not",
    )
    what.add_argument(
        "--message", metavar="TEXT", help="an error or event of Kubernetes, a driver or a chart; - reads standard input"
    )
    what.add_argument(
        "--events",
        metavar="NAMESPACE/POD",
        help="what the events and conditions of a pod in the snapshot mean (--observed)",
    )
    parser.add_argument(
        "--pool",
        metavar="NAME",
        default="",
        help="this pool only; without a claim: who runs on the pool, who could, and who cannot and why",
    )
    parser.add_argument(
        "--what-if",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="explain on the fleet with this value changed, repeatable: pools.l4.count.max=8, kubernetes=1.36, "
        "driver=0.4.1",
    )
    add_capacity(parser)
    add_answer(parser, ("text", "json", "markdown", "html"))
