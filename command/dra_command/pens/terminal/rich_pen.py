"""Lines and tables from Rich: with colors on a terminal, wrapped to any width everywhere."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dra_command.pens.terminal.plain_pen import (
    column_widths,
    is_simple,
    narrowest_columns,
)
from dra_command.pens.terminal.wrapping import line_starts

_LONGEST_WORD: Final = 14  # maximum characters of a number's heading that isn't wrapped


class RichPen:
    """Writes for a file. The written text is returned instead of printed."""

    def __init__(self, file: TextIO, width: int | None) -> None:
        """`width`: None means the width of the terminal."""
        seen = Console(file=file, width=width, highlight=False, emoji=False)
        self._buffer = io.StringIO()
        self._console = Console(
            file=self._buffer,
            width=seen.width,
            force_terminal=file.isatty(),
            color_system=seen.color_system,  # type: ignore[arg-type]  # one of the names it takes
            legacy_windows=False,
            highlight=False,
            emoji=False,
        )
        self.width: int = seen.width

    def paragraph(self, parts: Sequence[str | tuple[str, str]], *, folds: bool) -> list[str]:
        """Return the lines of plain parts and (text, style) parts. Without `folds`, return a single
        line of any length.
        """
        text = Text.assemble(*parts)
        starts = line_starts(text.plain, self.width) if folds and is_simple(text.plain) else []
        for line in text.divide(starts):
            self._console.print(line, soft_wrap=not folds)
        return self._lines()

    def table(
        self,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        right: Collection[int],
        styles: Mapping[str, str],
    ) -> list[str]:
        """Return the lines of a table. If a cell, or the last word in a cell, is a key of `styles`,
        it's colored.
        """
        drawn = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        least = narrowest_columns(heads, rows, right)
        widths = column_widths(least, heads, rows, self.width)
        for index, head in enumerate(heads):
            is_number = index in right
            drawn.add_column(
                Text(head),
                justify="right" if is_number else "left",
                overflow="fold",
                # headings of several words and long names can be wrapped, but a number can't
                no_wrap=is_number and " " not in head and len(head) <= _LONGEST_WORD,
                min_width=least[index] if is_number else None,
                width=widths[index] if widths else None,
            )
        for row in rows:
            drawn.add_row(*(_coloured(cell, styles) for cell in row))
        self._console.print(drawn)
        return self._lines()

    def _lines(self) -> list[str]:
        text = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return [line.rstrip() for line in text.splitlines()]


def _coloured(cell: str, styles: Mapping[str, str]) -> Text:
    text = Text(cell, style=styles.get(cell, ""))
    before, gap, last = cell.rpartition(" ")
    if gap and last in styles:
        text.stylize(styles[last], len(before) + 1)
    return text
