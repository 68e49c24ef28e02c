"""Findings as workflow commands, which GitHub Actions shows next to the affected lines."""

from __future__ import annotations

from dra_command.check.summary import summary
from dra_command.findings.annotations import annotation
from dra_command.findings.check_result import CheckResult
from dra_command.pens.visible_text import visible


def check_github(checked: CheckResult) -> str:
    """Return one command per finding, and the summary as a line of the log."""
    commands = [annotation(each, checked.fleet_file) for each in checked.diagnostics]
    return "".join(f"{line}\n" for line in (*commands, visible(summary(checked))))
