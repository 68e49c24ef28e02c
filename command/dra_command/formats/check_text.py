"""Findings for a person at a terminal, and plain in a pipe."""

from __future__ import annotations

from collections import Counter
from typing import TextIO

from dra_command.checked import Checked
from dra_command.formats.page import Page


def print_check(checked: Checked, *, quiet: bool = False, file: TextIO | None = None) -> None:
    """Print every finding and how many there are; `quiet` leaves the errors."""
    with Page(file) as page:
        for each in checked.diagnostics:
            if each.severity == "error" or not quiet:
                page.diagnostic(each)
        if checked.diagnostics and not quiet:
            page.gap()
        counted = Counter(each.severity for each in checked.diagnostics)
        if not counted:
            page.line((checked.passed, "bold green"))
            return
        words = [
            f"{counted[severity]} {severity}{'s' if counted[severity] != 1 else ''}"
            for severity in ("error", "warning", "note")
            if counted[severity]
        ]
        style = "bold red" if counted["error"] else "bold yellow"
        page.line((f"{', '.join(words)}.", style))
