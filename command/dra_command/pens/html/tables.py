"""Pages that contain only tables, for reports without figures, in the same style as the other
reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from dra_command.pens.html.grid import grid_lines, shown
from dra_command.pens.html.line_breaks import wrapped
from dra_command.pens.html.page import coded, render_page
from dra_command.pens.table import Table
from dra_planner.model import Verdict


def tables_page(
    lines: Iterable[str],
    *,
    where: str,
    verdict: Verdict,
    decision: str,
    below: str,
    style: str = "",
) -> str:
    """Return the page with these lines of HTML. `decision` is the verdict in one sentence, and
    `below` is a line with the setting. `style` is as in `render_page`.
    """
    return render_page(
        "pens/html/tables.html.j2",
        where=where,
        verdict=verdict,
        decision=decision,
        style=style,
        below=below,
        lines=Markup("\n".join(lines)),  # escaped by the functions of this module
    )


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, starting with its title."""
    yield f"<h2>{shown(table.title)}</h2>"
    yield from grid_lines(table)
    if table.note:
        yield f'<p class="note">{wrapped(table.note)}</p>'


def message(text: str) -> str:
    """Return a message escaped for HTML. Text in backticks is code."""
    return "".join(
        f"<code>{wrapped(part)}</code>" if is_code else wrapped(part)
        for is_code, part in coded(text)
    )


def fix_line(fix: str) -> str:
    """Return a fix as it follows a problem."""
    return f'<div class="fix"><b>→ Fix</b><span>{message(fix)}</span></div>'
