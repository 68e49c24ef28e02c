"""`check --diff REF`: what was found in another state of the repository; a change tells its own
findings alone.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.findings.baseline import KnownFindings
from dra_command.findings.check_result import CheckResult
from dra_command.findings.fingerprints import fingerprint
from dra_command.inputs.git_files import checked_out, top_of
from dra_planner.errors import NOWHERE, Diagnostic, PlannerError

NOT_CHECKED = "base-not-checked"


def findings_at_ref(
    ref: str, values: argparse.Namespace, check: Callable[[argparse.Namespace], CheckResult]
) -> KnownFindings:
    """Return what `check` finds with the same options at a ref; nothing where none of the paths was
    there.

    Raises PlannerError where there is no repository or no such ref. What cannot be checked there
    has a remark.
    """
    if "-" in values.paths:
        raise UsageError("--diff can't compare standard input", fix="name files or folders")
    here = Path.cwd().resolve()
    top = top_of(here)
    folder = checked_out(top, ref, NOWHERE) / here.relative_to(top)
    if not folder.is_dir():
        return KnownFindings(Counter())
    then = _as_it_was(values, here, folder)
    if not then.paths and (values.paths or not then.stack):
        return KnownFindings(Counter())
    with contextlib.chdir(folder):
        try:
            findings = check(then).diagnostics
        except PlannerError as error:
            message = (
                f'"{ref}" can\'t be checked, so every finding is reported: {error.place} '
                f"{error.message}"
            )
            return KnownFindings(Counter(), (Diagnostic("note", NOT_CHECKED, message),))
        return KnownFindings(Counter(map(fingerprint, findings)))


def _as_it_was(values: argparse.Namespace, here: Path, folder: Path) -> argparse.Namespace:
    """Return the options with paths that are there at the ref, and without files that are not."""
    then = argparse.Namespace(**vars(values))
    paths = [os.path.relpath(path, here) if os.path.isabs(path) else path for path in values.paths]
    then.paths = [
        path
        for path in paths
        if (folder / path).exists() or glob.glob(str(folder / path), recursive=True)
    ]
    for name in ("fleet", "observed"):
        path = getattr(values, name)
        if path:
            was = folder / (os.path.relpath(path, here) if os.path.isabs(path) else path)
            setattr(then, name, str(was) if was.is_file() else None)
    if values.stack and not (folder / "stacks" / f"Pulumi.{values.stack}.yaml").is_file():
        then.stack = None
    return then
