"""A comparison as text for a terminal, or as plain text for a pipe."""

from __future__ import annotations

from dra_command.diff.comparison import ComparedSides
from dra_command.diff.summary import headline, reasons, tables
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.terminal.row_paragraphs import print_table


def print_diff(found: ComparedSides, *, quiet: bool, verbose: bool) -> None:
    """Print the comparison. `quiet` prints the first line and the reasons. `verbose` also prints
    what didn't change.
    """
    with Page() as page:
        difference = found.difference
        verdict = difference.regression
        if verdict == "fits":  # nothing got worse, but the plan might not have fit before
            verdict = difference.verdict_after
        sign = page.signs.of(verdict)
        page.line((f"{sign} {headline(found)}", f"bold {VERDICT_STYLES[verdict]}"))
        if not quiet:
            page.text(f"before: {found.before} · after: {found.after}", indent=2)
        for workload, reason, fix in reasons(found):
            page.gap()
            page.line((f"{workload}: ", "bold"), reason)
            if fix:
                page.text(fix, indent=4, mark="→ ")
        for table in () if quiet else tables(found, every=verbose):
            page.gap()
            print_table(page, (table.title, *table.heads[1:]), table.rows, numbers=table.numbers)
