"""`check --diff REF`: find out which findings already exist at a git ref, so that a change reports
only its own findings.
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.findings.baseline import KnownFindings
from dra_command.findings.check_result import CheckResult
from dra_command.findings.fingerprints import fingerprint
from dra_command.inputs.git_files import checked_out, options_at, top_of
from dra_planner.errors import NOWHERE, Diagnostic, PlannerError

NOT_CHECKED = "base-not-checked"


def findings_at_ref(
    ref: str, values: argparse.Namespace, check: Callable[[argparse.Namespace], CheckResult]
) -> KnownFindings:
    """Return what `check` finds at a ref with the same options. If none of the paths existed there,
    return no findings. Raises PlannerError if there is no repository or no such ref. A remark lists
    the files that can't be checked at the ref.
    """
    if "-" in values.paths:
        raise UsageError("--diff can't compare standard input", fix="pass files or folders")
    here = Path.cwd().resolve()
    top = top_of(here)
    folder = checked_out(top, ref, NOWHERE) / here.relative_to(top)
    if not folder.is_dir():
        return KnownFindings(Counter())
    then = options_at(values, here, folder)
    if not then.paths and (values.paths or not then.stack):
        return KnownFindings(Counter())
    with contextlib.chdir(folder):
        try:
            findings = check(then).diagnostics
        except PlannerError as error:
            message = (
                f'"{ref}" can\'t be checked ({error.place} {error.message}), so `check` '
                "reports every finding"
            )
            return KnownFindings(Counter(), (Diagnostic("note", NOT_CHECKED, message),))
        return KnownFindings(Counter(map(fingerprint, findings)))
