"""Tables of HTML reports. On a phone, each row becomes a block with labeled cells. If it has many
columns, it's a block on a tablet too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from markupsafe import Markup

from dra_command.pens.html.line_breaks import CODE, UNBROKEN, wrapped
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_AFTER_A_NAME, VERDICT_WORDS
from dra_command.pens.visible_text import visible

_CLASSES = {
    word: verdict
    for words in (VERDICT_WORDS, VERDICT_AFTER_A_NAME)
    for verdict, word in words.items()
}

_LABEL: Final = 14  # maximum characters of a word, or of a narrow label, above a number
_FEWEST: Final = 3  # numbers that form a row
_THIRDS: Final = (3, 6)  # numbers that fill rows of three
_MOST_COLUMNS, _MOST_TEXTS = 6, 3  # columns, and columns without numbers, that fit on a tablet


def grid(table: Table, *, stacks: bool = True) -> Markup:
    """Return a table without its title. With `stacks`, its rows are blocks on a phone."""
    return Markup("\n".join(grid_lines(table, stacks=stacks)))


def grid_lines(table: Table, *, stacks: bool = True) -> Iterator[str]:
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
        f'<table role="table"{_class(table) if stacks else ""}><thead role="rowgroup"><tr '
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


def _class(table: Table) -> str:
    return f' class="stack{_number_lines(table)}{_early(table)}"'


def _number_lines(table: Table) -> str:
    """Return the class of a table whose numbers have their own lines on a phone, because their
    labels don't fit above them, or because few numbers are next to each other; or the class of a
    table whose numbers fill rows of three.
    """
    is_scattered = max(table.numbers, default=0) - min(table.numbers, default=0) >= len(
        table.numbers
    )
    labels = [table.heads[column] for column in table.numbers]
    words = (word for label in labels for word in label.split())
    if len(labels) < _FEWEST or is_scattered or max(map(len, words)) > _LABEL:
        return " lines"
    return " thirds" if len(labels) in _THIRDS else ""


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
    if verdict:
        return f'<span class="{verdict} nw">{shown(cell)}</span>'
    parts = (
        f"<code>{wrapped(part)}</code>" if at % 2 else wrapped(part)
        for at, part in enumerate(CODE.split(cell))
    )
    return "".join(parts)
