"""Errors about invalid input: a JSON object if JSON is requested, otherwise sentences on standard
error.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from dra_command.command_line.errors_file import ERRORS_FILE
from dra_command.inputs.yaml_repair import repair_fix
from dra_command.pens.terminal.page import print_note
from dra_planner.errors import ManifestError, PlannerError, located


def print_fault(error: PlannerError, *, as_json: bool) -> None:
    """Print the problem in the input, its location, and the fix."""
    error = _with_repair(error)
    if file := os.environ.get(ERRORS_FILE):
        Path(file).write_text(_as_json(error), encoding="utf-8")
    if as_json:
        print(_as_json(error))
        return
    for each in _flatten(error):
        print_note(f"pulumi-dra: {sentence(each)}")


def _as_json(error: PlannerError) -> str:
    first, *others = [_fault(each) for each in _flatten(error)]
    found = {"version": 1, "error": first, "others": others}
    return json.dumps(found, indent=2, ensure_ascii=False)


def _with_repair(error: PlannerError) -> PlannerError:
    """Return the error with a command that repairs the text, if a repair exists."""
    if not isinstance(error, ManifestError):
        return error
    repaired = repair_fix(error)
    fix = "; ".join(filter(None, (error.fix, repaired)))
    return (
        ManifestError(error.message, place=error.place, fix=fix, others=error.others)
        if repaired
        else error
    )


def print_internal_error(error: Exception, *, as_json: bool, verbose: bool) -> None:
    """Print that the program has an internal error, with the traceback only on request."""
    message = f"internal error: {type(error).__name__}: {error}{_location(error)}"
    fix = "please report this error with the input that caused it"
    if verbose:
        traceback.print_exception(error, file=sys.stderr)
    if as_json:
        fault = {"file": "", "line": 0, "path": "", "message": message, "fix": fix}
        print(
            json.dumps({"version": 1, "error": fault, "others": []}, indent=2, ensure_ascii=False)
        )
    else:
        print_note(f"pulumi-dra: {message}; {fix}")


def _location(error: Exception) -> str:
    """Return the module and the line that raised the error, for a report without a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" ({'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno})"


def sentence(error: PlannerError) -> str:
    """Return one error without further errors, as one line: place, problem, fix."""
    return located(error.place, error.message) + (f"; {error.fix}" if error.fix else "")


def _flatten(error: PlannerError) -> list[PlannerError]:
    found = [error]
    for other in error.others:
        found.extend(_flatten(other))
    return found


def _fault(error: PlannerError) -> dict[str, Any]:
    place = error.place
    return {
        "file": place.file,
        "line": place.line,
        "path": place.path,
        "message": error.message,
        "fix": error.fix,
    }
