"""Findings as a comment on a pull request, identified by its first line, with errors first and the
rest folded.
"""

from __future__ import annotations

from typing import Final

from dra_command.check.summary import summary
from dra_command.findings.check_result import CheckResult
from dra_command.pens.markdown import code, details, diagnostic_lines, joined, safe
from dra_command.pens.signs import DRAWN
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_planner.errors import Diagnostic
from dra_planner.wording import counted

MARK: Final = "<!-- pulumi-dra:check -->"
_MOST: Final = 8
_ACCEPTED: Final = (
    "The plan lists workloads that don't fit. These workloads are already known or exempted, so "
    "they don't fail this run."
)


def check_markdown(checked: CheckResult) -> str:
    """Return the comment, with a newline at its end."""
    errors = [each for each in checked.diagnostics if each.severity == "error"]
    # an error doesn't always mean that a pod doesn't fit
    result = counted(len(errors), "error") if errors else VERDICT_WORDS[checked.verdict]
    title = f"{DRAWN.of(checked.verdict)} {result}"
    head = [MARK, f"### GPU checks: {title}", "", safe(summary(checked)), ""]
    if checked.accepts_misfits:
        head += [_ACCEPTED, ""]
    for each in errors[:_MOST]:
        head += diagnostic_lines(each)
    folded = []
    groups = (
        ("more error", errors[_MOST:]),
        *((name, _of(checked, name)) for name in ("warning", "note")),
    )
    for name, found in groups:
        if found:
            lines = [line for each in found for line in diagnostic_lines(each)]
            folded.append(details(counted(len(found), name), lines))
    command = f"pulumi-dra check --stack {checked.stack}" if checked.stack else "pulumi-dra check"
    foot = f"<sub>{counted(checked.workloads, 'workload')} · the same as {code(command)}</sub>"
    return joined(head, folded, [foot])


def _of(checked: CheckResult, severity: str) -> list[Diagnostic]:
    return [each for each in checked.diagnostics if each.severity == severity]
