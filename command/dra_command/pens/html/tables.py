"""Pages that contain only tables, for reports without figures, in the same style as the other
reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from markupsafe import Markup

from dra_command.pens.html.line_breaks import UNBROKEN, wrapped
from dra_command.pens.html.page import coded, render_page
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import (
    VERDICT_AFTER_A_NAME,
    VERDICT_WORDS,
    headline_verdict,
)
from dra_command.pens.visible_text import visible
from dra_planner.model import Verdict

_CLASSES = {
    word: verdict
    for words in (VERDICT_WORDS, VERDICT_AFTER_A_NAME)
    for verdict, word in words.items()
}

_LABEL: Final = 14  # maximum characters of a word, or of a narrow label, above a number
_FEWEST: Final = 3  # numbers that form a row
_MOST_COLUMNS, _MOST_TEXTS = 6, 3  # columns, and columns without numbers, that fit on a tablet


def tables_page(
    lines: Iterable[str],
    *,
    where: str,
    verdict: Verdict,
    decision: str,
    below: str,
    stalls: bool = False,
    style: str = "",
) -> str:
    """Return the page with these lines of HTML. `decision` is the verdict in one sentence, and
    `below` is a line with the setting. With `stalls`, a rollout never finishes.
    `style` is as in `render_page`.
    """
    return render_page(
        "pens/html/tables.html.j2",
        where=where,
        verdict=headline_verdict(verdict, stalls=stalls),
        decision=decision,
        headline="All pods fit, but rollouts never finish" if stalls and verdict == "fits" else "",
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


def grid_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table without its title. On a narrow page, each row becomes a block with
    labeled numbers.
    """
    yield (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {shown(table.title)}">'
    )
    heads = "".join(
        f'<th role="columnheader" scope="col"{_number(table, at)}>{wrapped(head)}</th>'
        for at, head in enumerate(table.heads)
    )
    yield (
        f'<table role="table" class="stack{_number_lines(table)}{_early(table)}"><thead role="rowgroup"><tr '
        f'role="row">{heads}</tr></thead>'
    )
    yield '<tbody role="rowgroup">'
    for name, *cells in table.rows:
        first = (
            '<th role="rowheader" scope="row" '
            f'data-l="{shown(table.heads[0])}"{_unbroken(name)}>{_cell(name)}</th>'
        )
        others = "".join(
            (
                '<td role="cell" '
                f'data-l="{shown(table.heads[at])}"{_number(table, at)}>{_cell(cell)}</td>'
            )
            for at, cell in enumerate(cells, start=1)
        )
        yield f'<tr role="row">{first}{others}</tr>'
    yield "</tbody></table></div>"


def shown(text: str) -> str:
    """Return text escaped for HTML, with invisible and control characters shown."""
    return escape(visible(text))


def message(text: str) -> str:
    """Return a message escaped for HTML. Text in backticks is code."""
    return "".join(
        f"<code>{wrapped(part)}</code>" if is_code else wrapped(part)
        for is_code, part in coded(text)
    )


def fix_line(fix: str) -> str:
    """Return a fix as it follows a problem."""
    return f'<div class="fix"><b>→ Fix</b><span>{message(fix)}</span></div>'


def _number_lines(table: Table) -> str:
    """Return the class of a table whose numbers have their own lines on a phone, because their
    labels don't fit above them, or because few numbers are next to each other.
    """
    labels = [table.heads[column] for column in table.numbers]
    words = (word for label in labels for word in label.split())
    is_row = len(labels) >= _FEWEST and max(map(len, words)) <= _LABEL
    return "" if is_row else " lines"


def _early(table: Table) -> str:
    """Return the class of a table whose rows are already blocks on a tablet."""
    columns = len(table.heads)
    is_wide = columns > _MOST_COLUMNS and columns - len(table.numbers) > _MOST_TEXTS
    return " early" if is_wide else ""


def _number(table: Table, column: int) -> str:
    if column not in table.numbers:
        return ""
    return ' class="n wide"' if len(table.heads[column]) > _LABEL else ' class="n"'


def _unbroken(name: str) -> str:
    return ' class="nw"' if len(name) <= UNBROKEN else ""


def _cell(cell: str) -> str:
    verdict = _CLASSES.get(cell)
    return f'<span class="{verdict} nw">{shown(cell)}</span>' if verdict else wrapped(cell)
