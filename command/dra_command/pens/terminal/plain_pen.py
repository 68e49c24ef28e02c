"""Paragraphs and tables without colors.

Text that is too wide, or that contains signs of unknown width, isn't supported. The output is
identical to Rich's output without colors, but importing Rich takes longer than most plans.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from dra_command.pens.terminal.wrapping import wrapped

_GAP: Final = "  "
_RULE: Final = "─"
_WORD: Final = re.compile(r" *[^ ]+ *")
_ONE_COLUMN_EACH: Final = re.compile("[ -~À-˿–—‘’“”…·→≤≥×−✓✕█▓░▒▏▎▍▌▋▊▉]*")


def plain_paragraph(text: str, width: int) -> list[str] | None:
    """Return the lines of a paragraph. None if a word is longer than a line."""
    if not is_simple(text):
        return None
    if len(text) <= width:
        return [text.rstrip()]
    if any(len(word.rstrip()) > width for word in _WORD.findall(text)):
        return None
    return wrapped(text, width)


def plain_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int], width: int
) -> list[str] | None:
    """Return the lines of a table, with the columns in `right` right-aligned. None if the table is
    wider than `width`.
    """
    if not all(is_simple(cell) for row in (heads, *rows) for cell in row):
        return None
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    widths[-1] = max(1, widths[-1])  # same as in Rich
    total = sum(widths) + len(_GAP) * (len(widths) - 1)
    if total > width:
        return None

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rstrip().rjust(size) if index in right else cell.ljust(size)
            for index, (cell, size) in enumerate(zip(cells, widths, strict=True))
        )
        return _GAP.join(padded).rstrip()

    return [line(heads), _RULE * total, *map(line, rows)]


def is_simple(text: str) -> bool:
    """Return whether each character of a text is one column wide."""
    return _ONE_COLUMN_EACH.fullmatch(text) is not None
