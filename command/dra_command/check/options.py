"""The options of `check`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import (
    add_answer,
    add_capacity,
    add_config,
    add_paths,
    add_watch,
)


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument(
        "--exclude",
        metavar="GLOB",
        action="append",
        default=[],
        help="skip files and folders that match this name, path, or pattern, for example "
        "charts or '*-test.yaml'; repeatable",
    )
    parser.add_argument(
        "--stdin-name",
        metavar="NAME",
        default="<stdin>",
        help="file name to report for standard input",
    )
    _add_choice_of_rules(parser)
    _add_what_was_found_before(parser)
    add_capacity(parser)
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note", "never"),
        default="error",
        help="exit with 1 for findings of this severity or higher [default: %(default)s]",
    )
    parser.add_argument(
        "--explain", metavar="RULE", default="", help="print a rule with its reason and fix"
    )
    parser.add_argument(
        "--driver-upgrade",
        metavar=("OLD", "NEW"),
        nargs=2,
        help="instead of running rules, report claims and classes that fail or change with a "
        "different NVIDIA DRA driver version (VERSION[+GATE…]); without PATH, print every change",
    )
    _add_repairs(parser)
    parser.add_argument(
        "--output",
        metavar="FORMAT=FILE[,…]",
        action="append",
        default=[],
        help="also write the findings to files in other formats, for example "
        "sarif=findings.sarif,junit=checks.xml; repeatable",
    )
    add_watch(parser)
    add_answer(
        parser, ("text", "json", "markdown", "html", "sarif", "junit", "code-quality", "github")
    )


def _add_choice_of_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--select",
        metavar="RULE[,RULE…]",
        action="append",
        default=[],
        help="run only these rules, even if they're off by default; repeatable",
    )
    add_config(parser)
    parser.add_argument(
        "--today",
        metavar="DATE",
        default="",
        help="evaluate exemption expiry on this date [default: today]",
    )


def _add_what_was_found_before(parser: argparse.ArgumentParser) -> None:
    before = parser.add_mutually_exclusive_group()
    before.add_argument(
        "--baseline", metavar="FILE", default="", help="ignore findings listed in FILE"
    )
    before.add_argument(
        "--write-baseline",
        metavar="FILE",
        default="",
        help="write all current findings to FILE, keep the findings of other stacks in FILE, "
        "and exit with 0",
    )
    before.add_argument(
        "--diff",
        metavar="REF",
        default="",
        help="report only findings that aren't in this branch, tag, or commit",
    )


def _add_repairs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rewrite",
        action="store_true",
        help="convert older DRA objects (v1alpha1 through v1beta2) to resource.k8s.io/v1; print "
        "the converted manifests instead of findings, and list objects that v1 can't express",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="with --rewrite, change the files instead of printing them",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="before the check, fix these problems in the files: older and flat forms of DRA "
        "objects, comparisons that need compareTo, quantity units, and missing tolerations; print "
        "each change, and keep comments and formatting",
    )
