"""The options of `rehearse`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_fleet, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(observed="")
    add_paths(parser)
    add_fleet(parser)
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        help="Kubernetes version, for example 1.36 [default: the fleet's version]",
    )
    parser.add_argument(
        "--order",
        metavar="ORDER",
        default="document",
        help="pod arrival order: document, reversed, or random:N [default: %(default)s]",
    )
    parser.add_argument(
        "--one-by-one",
        action="store_true",
        help="apply a workload only after each earlier pod is scheduled or unschedulable [default: "
        "apply all at once]",
    )
    parser.add_argument(
        "--scenario",
        metavar="SCENARIO",
        action="append",
        default=[],
        help="afterward, run this scenario and compare the result with the simulation; "
        "repeatable: rollout[:NAME], scale-up, node-lost[:NODE], zone-lost:ZONE, "
        "driver-upgraded:VERSION, arrival-order:ORDER",
    )
    parser.add_argument(
        "--migration",
        action="store_true",
        help="run the steps that `migrate --steps` plans, from the fleet's device-plugin pools to "
        "DRA pools",
    )
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        default="",
        help="use the disposable cluster in FILE; its kube-system namespace needs the label "
        "pulumi-dra/throw-away=true",
    )
    parser.add_argument("--context", metavar="NAME", default="", help="context in the kubeconfig")
    parser.add_argument(
        "--binaries",
        metavar="FOLDER",
        help="folder with etcd, kube-apiserver, kube-controller-manager, and kube-scheduler",
    )
    parser.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=float,
        default=180,
        help="fail after SECONDS [default: %(default)s]",
    )
    add_answer(parser, ("text", "json", "markdown", "html"))
