"""Findings as an HTML page without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from dra_command.check.summary import counts, summary
from dra_command.findings.check_result import CheckResult
from dra_command.pens.html.page import ReportEntry, diagnostic_entry, render_page
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_planner.wording import counted

_MOST: Final = 20


def check_html(checked: CheckResult) -> str:
    """Return the findings as an HTML document, errors first."""
    found, sentence = counts(checked), summary(checked)
    version = f", for Kubernetes {checked.kubernetes}" if checked.kubernetes else ""
    return render_page(
        "check/check.html.j2",
        where="pulumi-dra check",
        verdict=checked.verdict,
        headline=_headline(checked, found),
        decision=""
        if sentence == f"{found}."
        else _sentence(sentence.removeprefix("No findings: ")),
        facts=[
            ("Verdict", VERDICT_WORDS[checked.verdict]),
            ("Checked", f"{counted(checked.workloads, 'workload')}{version}"),
        ],
        groups=list(_groups(checked)),
        most=_MOST,
    )


def _headline(checked: CheckResult, found: str) -> str:
    """Return the findings by severity, after the verdict if none of them is an error."""
    if not found:
        return "No findings"
    if checked.diagnostics[0].severity == "error":
        return found
    return f"{'No errors' if checked.verdict == 'fits' else 'Cannot tell'}, {found}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _groups(checked: CheckResult) -> Iterator[tuple[str, str, list[ReportEntry]]]:
    for severity, title in (("error", "Errors"), ("warning", "Warnings"), ("note", "Notes")):
        found = [
            replace(diagnostic_entry(each), subject=each.code)
            for each in checked.diagnostics
            if each.severity == severity
        ]
        if found:
            yield severity, title, found
