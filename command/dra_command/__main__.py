"""The command `pulumi-dra`: runs a subcommand and reports any error as one sentence and an exit
status.

`_run` imports its modules after pausing the garbage collector.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING

from dra_command.command_line.exit_status import Status

if TYPE_CHECKING:
    from dra_command.command_line.arguments import Arguments

INTERNAL_ERROR = 70  # sysexits.h EX_SOFTWARE: an internal error, not an invalid input
# Number of new objects before the garbage collector runs. The default is 700, but a plan for a few
# pods creates 100,000 objects.
MORE_OBJECTS = 250_000
BROKEN_PIPE = 141  # the status that a shell reports for a program that SIGPIPE terminated


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status. Never raises, and prints a traceback only on
    request.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        import gc  # only if the process runs nothing but this command

        gc.set_threshold(MORE_OBJECTS, *gc.get_threshold()[1:])
    # This package doesn't have Pydantic plugins, and searching for plugins takes a long time.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has exited. The interpreter flushes at exit, which must not print
        # an error either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return Status.INTERRUPTED
    if argv is None:
        # otherwise, the last collection would search all modules without freeing anything
        gc.freeze()
    return status


def _run(words: list[str]) -> int:
    from dra_command.command_line.arguments import parse
    from dra_planner.errors import PlannerError

    as_json = _wants_json(words)
    try:
        arguments = parse(words)
        if arguments is None:
            return Status.FITS
        if getattr(arguments.values, "watch", False):
            from dra_command.command_line.watching import watch

            return watch(words, arguments.values)
        return _dispatch(arguments)
    except PlannerError as error:
        from dra_command.error_output import print_fault  # imported only if an error occurs

        print_fault(error, as_json=as_json)
        return Status.WRONG_INPUT
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        # imported only if an error occurs
        from dra_command.error_output import print_internal_error

        print_internal_error(error, as_json=as_json, verbose="--verbose" in words or "-v" in words)
        return INTERNAL_ERROR


def _dispatch(arguments: Arguments) -> int:
    module = import_module(f"dra_command.{arguments.command}.run")
    status: int = module.run(arguments.values)
    return status


def _wants_json(words: Sequence[str]) -> bool:
    return "--format=json" in words or ("--format", "json") in pairwise(words)


if __name__ == "__main__":
    sys.exit(main())
