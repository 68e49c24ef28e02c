"""Paragraphs and tables without colors, and the widths of columns.

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
    total = table_width(widths)
    if total > width:
        return None

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rstrip().rjust(size) if index in right else cell.ljust(size)
            for index, (cell, size) in enumerate(zip(cells, widths, strict=True))
        )
        return _GAP.join(padded).rstrip()

    return [line(heads), _RULE * total, *map(line, rows)]


def narrowest_columns(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]
) -> list[int]:
    """Return the width of each column if the numbers in `right` are in one line, and headings and
    texts are only divided between words.
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(heads)
    return [
        max(map(len, (*heads[at].split(), *(cells if at in right else _words(cells)))), default=0)
        for at, cells in enumerate(columns)
    ]


def _words(cells: Sequence[str]) -> list[str]:
    return [word for text in cells for word in text.split()]


def table_width(columns: Sequence[int]) -> int:
    """Return the width of a table with columns of these widths."""
    return sum(columns) + len(_GAP) * (len(columns) - 1)


def column_widths(
    least: Sequence[int], heads: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> list[int]:
    """Return widths with which as many columns as possible have one line. [] if words need to be
    divided, or if nothing needs to be.
    """
    whole = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    free = width - table_width(least)
    if free < 0 or table_width(whole) <= width:
        return []
    widths = list(least)
    *others, longest = sorted(range(len(least)), key=lambda at: whole[at] - least[at])
    for at in others:
        if 0 < whole[at] - least[at] <= free:
            free -= whole[at] - least[at]
            widths[at] = whole[at]
    widths[longest] += min(free, whole[longest] - least[longest])
    return widths


def is_simple(text: str) -> bool:
    """Return whether each character of a text is one column wide."""
    return _ONE_COLUMN_EACH.fullmatch(text) is not None
