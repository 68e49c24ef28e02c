"""Findings for a person at a terminal, and plain in a pipe."""

from __future__ import annotations

from typing import TextIO

from dra_command.check.summary import summary
from dra_command.findings.check_result import CheckResult
from dra_command.pens.terminal.page import Page
from dra_command.plan_report.joint_fix import joint_fix_title


def print_check(checked: CheckResult, *, quiet: bool = False, file: TextIO | None = None) -> None:
    """Print every finding and their number. `quiet` prints only the errors."""
    with Page(file) as page:
        for each in checked.diagnostics:
            if each.severity == "error" or not quiet:
                page.diagnostic(each)
        joint = None if quiet or checked.plan is None else checked.plan.joint_fix
        if joint is not None:
            page.gap()
            page.line((joint_fix_title(joint), "bold"))
            for step in joint.steps:
                page.text(step, indent=2, mark="→ ")
        if checked.diagnostics and not quiet:
            page.gap()
        has_error = any(each.severity == "error" for each in checked.diagnostics)
        style = "bold red" if has_error else "bold yellow" if checked.diagnostics else "bold green"
        page.line((summary(checked), style))
