"""Findings for a person at a terminal, and plain in a pipe."""

from __future__ import annotations

from typing import TextIO

from dra_command.check.summary import summary
from dra_command.findings.check_result import CheckResult
from dra_command.pens.terminal.page import Page


def print_check(checked: CheckResult, *, quiet: bool = False, file: TextIO | None = None) -> None:
    """Print every finding and how many there are; `quiet` leaves the errors."""
    with Page(file) as page:
        for each in checked.diagnostics:
            if each.severity == "error" or not quiet:
                page.diagnostic(each)
        if checked.diagnostics and not quiet:
            page.gap()
        has_error = any(each.severity == "error" for each in checked.diagnostics)
        style = "bold red" if has_error else "bold yellow" if checked.diagnostics else "bold green"
        page.line((summary(checked), style))
