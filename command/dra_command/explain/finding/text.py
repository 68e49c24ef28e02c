"""Explanations of findings for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from dra_command.explain.pod.text import print_pods
from dra_command.pens.terminal.page import Page

if TYPE_CHECKING:
    from dra_command.explain.finding.answer import FindingExplanation

_STYLES: Final = {"error": "red", "warning": "yellow", "note": "blue"}


def print_findings(
    explained: Sequence[FindingExplanation], *, quiet: bool = False, file: TextIO | None = None
) -> None:
    """Print each finding with its rule and the pods at its place. `quiet` prints only the
    findings.
    """
    printed_rules: set[str] = set()
    for number, each in enumerate(explained):
        finding, rule = each.finding, each.rule
        with Page(file) as page:
            if number:
                page.gap()
            place = f"{finding.place} " if str(finding.place) else ""
            page.line(
                place, (finding.severity, f"bold {_STYLES[finding.severity]}"), f" {finding.code}"
            )
            page.text(finding.message, indent=2)
            if finding.fix:
                page.text(finding.fix, indent=4, mark="→ ")
            if rule is not None and rule.id not in printed_rules and not quiet:
                printed_rules.add(rule.id)
                page.text(f"rule: {rule.description} {rule.why}", indent=2)
                page.text(rule.url, indent=2)
            if each.pods and not quiet:
                page.gap()
        if each.pods and not quiet:
            print_pods(each.pods, file=file)
