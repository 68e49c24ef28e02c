"""The options of `check`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_answer, add_capacity, add_paths


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument(
        "--exclude",
        metavar="GLOB",
        action="append",
        default=[],
        help="leave out files and folders of this name, path or pattern, repeatable: charts, '*-test.yaml'",
    )
    parser.add_argument(
        "--stdin-name", metavar="NAME", default="<stdin>", help="what standard input is called in findings"
    )
    _add_choice_of_rules(parser)
    _add_what_was_found_before(parser)
    add_capacity(parser)
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note", "never"),
        default="error",
        help="the least severe finding with which the exit status is 1 (default: %(default)s)",
    )
    parser.add_argument(
        "--explain", metavar="RULE", default="", help="say what a rule finds, why it matters and what fixes it"
    )
    parser.add_argument(
        "--driver-upgrade",
        metavar=("OLD", "NEW"),
        nargs=2,
        help="instead of the rules: which claims and classes break or change their meaning with another release of "
        "the NVIDIA DRA driver; each is VERSION[+GATE…], and without PATH every change is told",
    )
    _add_repairs(parser)
    parser.add_argument(
        "--output",
        metavar="FORMAT=FILE[,…]",
        action="append",
        default=[],
        help="also write the findings to files, in any format, repeatable: sarif=findings.sarif,junit=checks.xml",
    )
    add_answer(parser, ("text", "json", "markdown", "html", "sarif", "junit", "github"))


def _add_choice_of_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--select",
        metavar="RULE[,RULE…]",
        action="append",
        default=[],
        help="these rules alone, also those that are off by default; repeatable",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        default="",
        help="levels, exemptions and files to leave out (default: the nearest pulumi-dra.yaml, from PATH upwards)",
    )
    parser.add_argument(
        "--today", metavar="DATE", default="", help="the day by which exemptions expire (default: today)"
    )


def _add_what_was_found_before(parser: argparse.ArgumentParser) -> None:
    before = parser.add_mutually_exclusive_group()
    before.add_argument(
        "--baseline", metavar="FILE", default="", help="leave out the findings that a baseline file knows"
    )
    before.add_argument(
        "--write-baseline", metavar="FILE", default="", help="write that file with all that is found now, and exit 0"
    )
    before.add_argument(
        "--diff",
        metavar="REF",
        default="",
        help="leave out what is found at a branch, tag or commit too: tell what the change brings",
    )


def _add_repairs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rewrite",
        action="store_true",
        help="print the files that hold older DRA objects (v1alpha1 to v1beta2) in the form of resource.k8s.io/v1, "
        "instead of findings; what has no such form stays and is named; standard input is printed whole",
    )
    parser.add_argument("--in-place", action="store_true", help="with --rewrite: change these files instead")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="repair the files first: older and flat forms of DRA objects, comparisons that need compareTo, units of "
        "amounts, tolerations that a pool asks for; what changes is told, and comments and layout stay",
    )
