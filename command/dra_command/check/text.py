"""Findings as text for a terminal, or as plain text for a pipe."""

from __future__ import annotations

from typing import TextIO

from dra_command.check.summary import summary
from dra_command.claim_report.joint_fix import print_joint_fix
from dra_command.findings.check_result import CheckResult
from dra_command.pens.terminal.page import Page


def print_check(
    checked: CheckResult, *, quiet: bool = False, verbose: bool = False, file: TextIO | None = None
) -> None:
    """Print every finding and the number of findings. `quiet` prints only the errors, and `verbose`
    also prints exempted findings, each with its reason.
    """
    with Page(file) as page:
        for each in checked.diagnostics:
            if each.severity == "error" or not quiet:
                page.diagnostic(each)
        for row in checked.exempted if verbose else ():
            where = f"{row.finding.place} " if str(row.finding.place) else ""
            page.line(where, ("exempted", "dim"), f" {row.finding.code}: {row.finding.message}")
            page.text(f"{row.reason} ({row.by})", indent=4)
        if checked.plan is not None and not quiet:
            print_joint_fix(page, checked.plan.joint_fix)
        if checked.diagnostics and not quiet:
            page.gap()
        has_error = any(each.severity == "error" for each in checked.diagnostics)
        style = "bold red" if has_error else "bold yellow" if checked.diagnostics else "bold green"
        page.line((summary(checked), style))
