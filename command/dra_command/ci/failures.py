"""Reasons why a run can't plan or check its input, for the comment, the summary, and the
annotations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dra_command.command_line.exit_status import Status
from dra_command.findings.annotations import annotation
from dra_command.findings.invalid_input import invalid_input
from dra_command.pens.markdown import diagnostic_lines
from dra_planner.errors import Diagnostic, Place, PlannerError

_EXPECTED: Final = (Status.FITS, Status.BROKEN, Status.WRONG_INPUT, Status.CANNOT_TELL)


def failures_of(command: str, status: int, file: Path, errors: str) -> tuple[Diagnostic, ...]:
    """Return why a subcommand ended without its whole report, or nothing if it printed one. `file`
    contains the errors of invalid input as JSON. `errors` is the subcommand's standard error.
    """
    if file.is_file():
        saved = json.loads(file.read_text(encoding="utf-8"))
        return tuple(
            found
            for each in (saved["error"], *saved["others"])
            for found in invalid_input(
                PlannerError(
                    each["message"],
                    place=Place(each["file"], each["line"], each["path"]),
                    fix=each["fix"],
                )
            )
        )
    if status in _EXPECTED:  # 2 if the report contains a manifest that can't be read
        return ()
    last = next(reversed(errors.strip().splitlines()), "it didn't print a reason")
    message = f"`pulumi-dra {command}` failed with exit status {status}: {last}"
    return (Diagnostic("error", "command-failed", message),)


def failure_report(failures: Iterable[Diagnostic]) -> str:
    """Return the first section of a report, or "" if there are no failures."""
    lines = [line for each in failures for line in diagnostic_lines(each)]
    if not lines:
        return ""
    introduction = (
        "This run couldn't plan or check all of its input, so the result is unknown. The sections "
        "below cover only the rest of the input."
    )
    return "\n".join(["### GPU capacity: ✕ invalid input", "", introduction, "", *lines])


def print_annotations(failures: Iterable[Diagnostic]) -> None:
    """On GitHub Actions, print an annotation for each failure."""
    if os.environ.get("GITHUB_ACTIONS"):
        for each in failures:
            print(annotation(each), flush=True)
