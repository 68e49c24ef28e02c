"""The options of `ci`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import Listed


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="file, folder, or glob [default: with --stack, the stack's workloads]",
    )
    capacity = parser.add_mutually_exclusive_group()
    capacity.add_argument(
        "--fleet", metavar="FILE", default="", help="fleet file, or a name or URL of a shared fleet"
    )
    capacity.add_argument(
        "--stack",
        metavar="NAME[,NAME…]",
        action=Listed,
        default="",
        help="stacks, separated by commas (stacks/Pulumi.NAME.yaml)",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        default="",
        help="configuration file [default: the nearest pulumi-dra.yaml]",
    )
    before = parser.add_mutually_exclusive_group()
    before.add_argument(
        "--baseline", metavar="FILE", default="", help="ignore findings listed in FILE"
    )
    before.add_argument(
        "--write-baseline",
        metavar="FILE",
        default="",
        help="write all current findings of each stack to FILE, and exit with 0",
    )
    before.add_argument(
        "--diff", metavar="REF", default="", help="report only findings that aren't in git REF"
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note", "never"),
        default="error",
        help="fail the run for findings of this severity or higher, including the warnings of "
        "`plan` [default: %(default)s]",
    )
    parser.add_argument(
        "--allow-unknown", action="store_true", help='exit with 0 if the verdict is "cannot tell"'
    )
    _add_answers(parser)


def _add_answers(parser: argparse.ArgumentParser) -> None:
    """Add the options of the comment and of the files."""
    parser.add_argument(
        "--comment",
        choices=("auto", "github", "gitlab", "none"),
        default="auto",
        help="create or update a comment on the pull or merge request; auto detects the host "
        "[default: %(default)s]",
    )
    parser.add_argument(
        "--name",
        default="",
        help="name of this run; runs with different names have separate comments",
    )
    parser.add_argument(
        "--sarif",
        metavar="FILE",
        default="",
        help="write findings to FILE as SARIF, with a run for each stack",
    )
    parser.add_argument(
        "--junit",
        metavar="FILE",
        default="",
        help="write findings to FILE as JUnit XML, with a test suite for the plan and each stack",
    )
    parser.add_argument(
        "--code-quality",
        metavar="FILE",
        default="",
        help="write findings to FILE as a GitLab Code Quality report",
    )
