"""A rehearsal as text for a terminal, or as plain text for a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dra_command.pens.table import Table
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.terminal.row_paragraphs import is_too_wide, print_rows
from dra_command.rehearse.summary import (
    explanations,
    fixes,
    headline,
    pools_table,
    scenario_tables,
    setting,
    verdict_of,
    workloads_table,
)

if TYPE_CHECKING:  # the sandbox is an optional extra
    from dra_sandbox.rehearsal import Comparison


def print_rehearsal(found: Comparison, *, quiet: bool = False) -> None:
    """Print the rehearsal. `quiet` prints only the headline, differences, and pending pods."""
    with Page() as page:
        page.line(
            (headline(found), f"bold {VERDICT_STYLES[verdict_of(found)]}"), f"  {setting(found)}"
        )
        if not quiet:
            for table in (workloads_table(found), pools_table(found), *scenario_tables(found)):
                page.gap()
                if table.title.startswith("Scenario"):
                    page.line((table.title, "bold"))
                _print_table(page, table)
        for name, lines in explanations(found):
            page.gap()
            page.line((name, "bold"))
            for line in lines:
                page.text(line, indent=2)
        for fix in fixes(found):
            page.text(fix, mark="→ ")
        if found.notes and not quiet:
            page.gap()
            for note in found.notes:
                page.text(note, mark="- ")


def _print_table(page: Page, table: Table) -> None:
    if is_too_wide(page, table.heads, table.rows):
        print_rows(page, table.heads, table.rows)
        if table.note:
            page.gap()
    else:
        styles = {"unexplained": "bold red"}
        page.table(table.heads, table.rows, numbers=table.numbers, styles=styles)
    if table.note:
        page.text(table.note, indent=2)
