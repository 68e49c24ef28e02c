"""Findings as one HTML page without scripts and external resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_command.check.summary import summary
from dra_command.findings.check_result import CheckResult
from dra_command.pens.html.page import ReportEntry, diagnostic_entry, render_page
from dra_planner.wording import counted

_MOST: Final = 20


def check_html(checked: CheckResult) -> str:
    """Return the findings as an HTML document, errors first."""
    said = summary(checked)
    return render_page(
        "check/check.html.j2",
        where="pulumi-dra check",
        verdict=checked.verdict,
        decision=f"{said[:1].upper()}{said[1:]}",
        facts=[("Checked", counted(checked.workloads, "workload"))],
        groups=list(_groups(checked)),
        most=_MOST,
    )


def _groups(checked: CheckResult) -> Iterator[tuple[str, str, list[ReportEntry]]]:
    for severity, title in (("error", "Errors"), ("warning", "Warnings"), ("note", "Notes")):
        found = [
            diagnostic_entry(each) for each in checked.diagnostics if each.severity == severity
        ]
        if found:
            yield severity, title, found
