"""A portfolio as text for a terminal, or as plain text for a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from dra_command.pens.table import Table
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.portfolio.report.sentences import (
    WORDS,
    faults,
    headline,
    heat_map,
    run_sentence,
    setting,
)
from dra_command.portfolio.report.summary import Summary
from dra_command.portfolio.report.tables import report_tables

_WORD_STYLES = {WORDS[outcome]: style for outcome, style in VERDICT_STYLES.items()}
_MOST_FAULTS = 20


def print_portfolio(
    summary: Summary,
    *,
    notes: Iterable[str] = (),
    quiet: bool = False,
    verbose: bool = False,
    file: TextIO | None = None,
) -> None:
    """Print the portfolio. `quiet` prints only the headline and the cells without a result.
    `verbose` lists every such cell.
    """
    with Page(file) as page:
        style = f"bold {VERDICT_STYLES[summary.verdict]}"
        page.line((headline(summary), style), f"  {setting(summary)}")
        if not quiet:
            for table in report_tables(summary):
                _add_table(page, table)
            if set(summary.counts) != {"fits"}:
                page.gap()
                for line in heat_map(summary):
                    page.verbatim(line)
        fault_lines = list(faults(summary))
        if fault_lines:
            page.gap()
            page.line(("No answer", "bold"))
        for line in fault_lines if verbose else fault_lines[:_MOST_FAULTS]:
            page.text(line, indent=2, mark="· ")
        if len(fault_lines) > _MOST_FAULTS and not verbose:
            page.text(
                f"and {len(fault_lines) - _MOST_FAULTS} more (--verbose shows them)",
                indent=2,
                mark="· ",
            )
        if not quiet:
            page.gap()
            for line in (run_sentence(summary), *notes):
                page.line((line, "dim"))


def _add_table(page: Page, table: Table) -> None:
    page.gap()
    page.line((table.title, "bold"))
    page.table(table.heads, table.rows, numbers=table.numbers, styles=_WORD_STYLES)
    if table.note:
        page.line((table.note, "dim"))
