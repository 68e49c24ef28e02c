"""The options of `portfolio`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="portfolio file with stacks and scenarios")
    where = parser.add_argument_group("place of the computation")
    where.add_argument(
        "--workers",
        metavar="N",
        type=_positive,
        default=0,
        help="number of processes on this machine [default: number of cores]",
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        default="",
        help="connect to the Dask scheduler at ADDRESS, and use its workers",
    )
    where.add_argument(
        "--engine",
        choices=("processes", "here", "dask"),
        default="",
        help="compute in several processes, only in this process (here), or in Dask "
        "workers on this machine [default: processes; here for up to 48 cells]",
    )
    where.add_argument(
        "--sample",
        metavar="PERCENT",
        type=_share,
        default=1.0,
        help="plan only some of the stacks, and estimate the time for all of them",
    )
    parser.add_argument(
        "--results",
        metavar="FOLDER",
        default="",
        help="folder for cached results [default: .pulumi-dra next to FILE]",
    )
    parser.add_argument(
        "--parquet", metavar="FILE", default="", help="also write all results to one Parquet file"
    )
    parser.add_argument(
        "--cell",
        metavar="STACK/SCENARIO",
        default="",
        help="instead, print the plan for one stack in one scenario",
    )
    add_answer(parser, ("text", "json", "html"))


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f'"{text}" isn\'t a number from 1 to 10000')
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f'"{text}" isn\'t a percentage above 0% and up to 100%')
    return share
