"""Plain pages of tables for reports without figures, in the styles of the others."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from dra_command.formats.html_style import page_style, security_policy
from dra_command.formats.plan_report import VERDICT_AFTER_A_NAME, Table
from dra_command.formats.visible import visible
from dra_planner.model import Verdict

_UNBROKEN: Final = 40  # characters of a name that stay on one line
_CLASSES = {word: verdict for verdict, word in VERDICT_AFTER_A_NAME.items()}


def head_lines(title: str, verdict: Verdict, below: str, *, style: str = "") -> Iterator[str]:
    """Yield the beginning of a page: its title in the colour of a verdict, and a line below it; `foot_lines` end it.

    `style` is what the page has beside the common styles; no other is allowed in it.
    """
    style = page_style() + style
    yield '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(security_policy(style))}">'
    yield f"<title>{shown(title)}</title><style>{style}</style></head>\n<body><main>"
    yield f'<h1 class="{verdict}">{shown(title)}</h1>\n<p class="note">{shown(below)}</p>'


def foot_lines() -> Iterator[str]:
    """Yield the end of a page."""
    yield "</main>\n</body>\n</html>"


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, its title first."""
    yield f'<h2>{shown(table.title)}</h2>\n<div class="scroll" tabindex="0"><table>'
    heads = "".join(f'<th scope="col"{_number(table, at)}>{shown(head)}</th>' for at, head in enumerate(table.heads))
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for row in table.rows:
        cells = "".join(f"<td{_look(table, at, cell)}>{_cell(cell)}</td>" for at, cell in enumerate(row))
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table></div>"
    if table.note:
        yield f'<p class="note">{shown(table.note)}</p>'


def shown(text: str) -> str:
    """Return text escaped for HTML, with what hides or acts written out."""
    return escape(visible(text))


def _number(table: Table, column: int) -> str:
    return ' class="n"' if column in table.numbers else ""


def _look(table: Table, column: int, cell: str) -> str:
    return ' class="nw"' if column == 0 and len(cell) <= _UNBROKEN else _number(table, column)


def _cell(cell: str) -> str:
    verdict = _CLASSES.get(cell)
    return f'<span class="{verdict}">{shown(cell)}</span>' if verdict else shown(cell)
