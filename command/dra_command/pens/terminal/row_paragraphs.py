"""Tables that might be too wide for a page. Their rows are paragraphs then."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from dra_command.pens.terminal.page import Page
from dra_command.pens.terminal.plain_pen import narrowest_columns, table_width


def is_too_wide(page: Page, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Return whether the page would have to divide cells of a table."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1) > page.width


def print_table(
    page: Page,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int] = (),
    styles: Mapping[str, str] | None = None,
) -> None:
    """Print a table whose first heading is its title, or its rows as paragraphs if words would be
    divided.
    """
    if table_width(narrowest_columns(heads, rows, numbers)) <= page.width:
        page.table(heads, rows, numbers=numbers, styles=styles)
    else:
        page.line((heads[0], "bold"))
        page.verbatim("─" * len(heads[0]))
        print_rows(page, heads, rows)


def print_rows(
    page: Page, heads: Sequence[str], rows: Iterable[Sequence[str]], *, names: int = 1
) -> None:
    """Print a paragraph for each row. The first `names` cells identify a row."""
    for row in rows:
        page.line((" ".join(row[:names]), "bold"))
        facts = zip(heads[names:], row[names:], strict=True)
        page.text(" · ".join(f"{head}: {cell}" for head, cell in facts if cell), indent=2)
