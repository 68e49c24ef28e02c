"""Pages that contain only tables, for reports without figures, in the same style as the other
reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from dra_command.pens.html.style import page_style, security_policy
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_AFTER_A_NAME
from dra_command.pens.visible_text import visible
from dra_planner.model import Verdict

_UNBROKEN: Final = 40  # maximum characters of a name that isn't wrapped
_CLASSES = {word: verdict for verdict, word in VERDICT_AFTER_A_NAME.items()}


def head_lines(title: str, verdict: Verdict, below: str, *, style: str = "") -> Iterator[str]:
    """Yield the beginning of a page: its title in the color of a verdict, and a line below it.
    `foot_lines` end the page. `style` contains the page's styles in addition to the common styles,
    and the page can't use any other style.
    """
    style = page_style() + style
    yield '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(security_policy(style))}">'
    yield f"<title>{shown(title)}</title><style>{style}</style></head>\n<body><main>"
    yield f'<h1 class="{verdict}">{shown(title)}</h1>\n<p class="note">{shown(below)}</p>'


def foot_lines() -> Iterator[str]:
    """Yield the end of the page."""
    yield "</main>\n</body>\n</html>"


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, starting with its title."""
    yield f"<h2>{shown(table.title)}</h2>"
    yield from grid_lines(table)
    if table.note:
        yield f'<p class="note">{shown(table.note)}</p>'


def grid_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table without its title. On a narrow page, each row becomes a block with
    labeled numbers.
    """
    yield (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {shown(table.title)}">'
    )
    heads = "".join(
        f'<th role="columnheader" scope="col"{_number(table, at)}>{shown(head)}</th>'
        for at, head in enumerate(table.heads)
    )
    yield (
        '<table role="table" class="stack"><thead role="rowgroup"><tr '
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


def _number(table: Table, column: int) -> str:
    return ' class="n"' if column in table.numbers else ""


def _unbroken(name: str) -> str:
    return ' class="nw"' if len(name) <= _UNBROKEN else ""


def _cell(cell: str) -> str:
    verdict = _CLASSES.get(cell)
    return f'<span class="{verdict}">{shown(cell)}</span>' if verdict else shown(cell)
