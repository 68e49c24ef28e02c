"""The options of `plan`."""

from __future__ import annotations

import argparse
from datetime import date
from typing import Final

from dra_command.command_line.shared_options import (
    add_answer,
    add_capacity,
    add_config,
    add_demand,
    add_paths,
    add_watch,
)

_LONGEST_SIMULATION: Final = 3_600  # seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_capacity(parser, growing=True)
    add_config(parser)
    add_demand(parser, saved=True)
    _add_judgement(parser)
    _add_files(parser)
    add_watch(parser)
    add_answer(parser, ("text", "json", "markdown", "html", "focus"))
    # `check` has these options, and the project's configuration of the rules reads them
    parser.set_defaults(exclude=[], today="")


def _add_judgement(parser: argparse.ArgumentParser) -> None:
    """Add the options that control how the plan is computed, and its limits."""
    parser.add_argument(
        "--simulate",
        metavar="off|SECONDS",
        type=_seconds,
        default="2",
        help="limit the scheduler simulation to about SECONDS (estimated for a typical computer), "
        "or skip it with off; a plan that would exceed the limit is simulated at a smaller scale "
        "[default: %(default)s]",
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        default="",
        help="write a proof of the cost and the packing, which conformance/certificate/check.py "
        "verifies",
    )
    parser.add_argument(
        "--matrix",
        metavar="PATH=VALUE[,VALUE…]",
        nargs="+",
        action="extend",
        default=[],
        help="plan each combination of these fleet values, and print a table; PATH is "
        "kubernetes, driver, or a path in the fleet, such as pools.l4.count.max",
    )
    parser.add_argument(
        "--quotas",
        metavar="FILE",
        default="",
        help="plan within the account's quotas; FILE is the output of `aws service-quotas "
        "list-service-quotas --service-code ec2`, `az vm list-usage`, or `gcloud compute "
        "regions describe`",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options that write or compare files, and the options for the printed plan."""
    _add_saved_plan(parser)
    parser.add_argument(
        "--gate",
        metavar="FILE",
        default="",
        help="write admission policies and quotas (YAML) that make a cluster reject workloads "
        "that exceed the plan; with --check, fail if FILE doesn't match the plan",
    )
    parser.add_argument(
        "--constraints",
        metavar="FILE",
        default="",
        help="write the plan's guards as a kustomize Component that patches the manifests; "
        "without guards, write the cheapest change that lets the scheduler place all pods",
    )
    parser.add_argument(
        "--suggest",
        metavar="FILE",
        default="",
        help="if workloads don't fit, write the cheapest additional pools to FILE in the fleet "
        "format",
    )
    parser.add_argument(
        "--picture",
        metavar="FILE.svg",
        default="",
        help="also draw the pools and their devices as SVG",
    )
    parser.add_argument(
        "--detail",
        action="store_true",
        help="also print the devices and cost of each claim, and the cost of one more pod or node",
    )
    parser.add_argument(
        "--month",
        metavar="YYYY-MM",
        type=_month,
        default=None,
        help="month to report with --format focus [default: the current month]",
    )


def _add_saved_plan(parser: argparse.ArgumentParser) -> None:
    """Add the options that write or compare the saved plan."""
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument(
        "--write",
        metavar="FILE",
        nargs="?",
        const="",
        help="save the plan to FILE; with --stack, FILE is stacks/NAME.plan.json",
    )
    kept.add_argument(
        "--check",
        metavar="FILE",
        nargs="?",
        const="",
        help="exit with 1 if the plan in FILE is stale; with --stack, FILE is "
        "stacks/NAME.plan.json",
    )
    parser.add_argument(
        "--fail-on",
        choices=("verdict", "stale"),
        default="verdict",
        help="stale: exit with 1 only if the saved plan is stale [default: %(default)s]",
    )


def _month(text: str) -> date:
    """Return the first day of the month in a text."""
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" isn\'t a month such as 2027-01') from None


def _seconds(text: str) -> float:
    """Return the number of seconds that the simulation may use on a typical computer, or 0 for
    `off`.
    """
    if text == "off":
        return 0.0
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" isn\'t "off" or a number of seconds') from None
    if not 0 < seconds <= _LONGEST_SIMULATION:
        raise argparse.ArgumentTypeError(
            f"{text} isn't a number of seconds from 0 to {_LONGEST_SIMULATION}"
        )
    return seconds
