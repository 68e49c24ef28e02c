"""Rows of a table that is too wide for a page, as paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_command.pens.terminal.page import Page


def is_too_wide(page: Page, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Return whether the page would have to divide cells of a table."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1) > page.width


def print_rows(
    page: Page, heads: Sequence[str], rows: Iterable[Sequence[str]], *, names: int = 1
) -> None:
    """Print a paragraph for each row. The first `names` cells identify a row."""
    for row in rows:
        page.line((" ".join(row[:names]), "bold"))
        facts = zip(heads[names:], row[names:], strict=True)
        page.text(" · ".join(f"{head}: {cell}" for head, cell in facts if cell), indent=2)
