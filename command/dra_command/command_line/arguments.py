"""The command line: subcommands, their options, and help with examples."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

from msgspec import Struct

from dra_command.command_line.examples import EXAMPLES, EXIT_STATUS
from dra_command.command_line.help_format import HelpFormat
from dra_command.command_line.similar_words import fix_of, fix_of_option
from dra_command.command_line.subcommands import add_subcommands
from dra_planner.errors import PlannerError

_NAME = "pulumi-dra"
_DESCRIPTION = """\
Plan and check node pools for Kubernetes ResourceClaims before any node exists.
"""


class UsageError(PlannerError):
    """An invalid command line."""


def require_sandbox(what: str, *modules: str) -> None:
    """Raise UsageError with the extra that installs these modules, unless all of them are
    installed.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        from dra_command.command_line.installation import extra_command  # noqa: PLC0415  (an error)

        raise UsageError(
            f"{what} needs Python packages that aren't installed: {', '.join(missing)}",
            fix=f"run {extra_command('sandbox')}",
        )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, fix=fix_of(message, self.prog))


class _Commands(HelpFormat):
    """Leaves enough space for the longest subcommand, because argparse indents subcommands further
    than it calculates.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 4 + max(map(len, EXAMPLES))


class Arguments(Struct, frozen=True):
    """The subcommand and its options."""

    command: str
    values: argparse.Namespace


def parse(words: Sequence[str]) -> Arguments | None:
    """Return the arguments, or None if the command line asks only for help or for the version.
    Raises UsageError.
    """
    parser = build_parser(words)
    try:
        values, rest = parser.parse_known_args(words)
    except SystemExit:  # argparse has printed help or the version
        return None
    if values.command is None:
        parser.print_help(sys.stdout)
        return None
    _take_late_words(values, rest, parser)
    return Arguments(values.command, values)


def _take_late_words(
    values: argparse.Namespace, rest: Sequence[str], parser: argparse.ArgumentParser
) -> None:
    """Add words that follow an option to the paths or search words before it, because argparse
    accepts no further positional arguments at that point.
    """
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    unknown = next((word for word in rest if word.startswith("-")), "")
    if unknown:
        fix = fix_of_option(unknown, commands.choices[values.command])
        raise UsageError(f"unrecognized arguments: {' '.join(rest)}", fix=fix)
    late = (
        getattr(values, "paths", None)
        if hasattr(values, "paths")
        else getattr(values, "words", None)
    )
    if rest and late is None:
        raise UsageError(
            f"unrecognized arguments: {' '.join(rest)}",
            fix=f"see `pulumi-dra {values.command} --help`",
        )
    if late is not None:
        late.extend(rest)


def build_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser with every subcommand. If words are given, only the subcommands among them
    get options.
    """
    parser = _Parser(
        prog=_NAME,
        description=_DESCRIPTION,
        epilog=EXIT_STATUS,
        formatter_class=_Commands,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    # passing the name prevents argparse from formatting a help text to find it
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=_Parser, prog=_NAME
    )
    add_subcommands(commands, words)
    return parser


class _Version(argparse.Action):
    """Prints the version. Reads the package's metadata only if the version is requested."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415  (as slow as all of argparse)

        print(f"pulumi-dra {version('pulumi-dra')}")
        parser.exit()
