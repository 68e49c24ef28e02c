"""Text for people: colours and the terminal's width on a terminal, plain lines of a fixed width elsewhere."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from types import TracebackType
from typing import Self, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dra_planner.errors import Diagnostic

WIDTH_IN_A_PIPE = 120
_ANY_WIDTH = 1_000
_SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}


class Page:
    """Collects lines and tables, and prints them when it is left without an error; no line ends in blanks."""

    def __init__(self, file: TextIO | None = None, *, wide: bool = False) -> None:
        """`wide`: in a pipe tables are as wide as what is in them, for programs that read lines."""
        self._file = file or sys.stdout
        is_terminal = self._file.isatty()
        width = None if is_terminal else _ANY_WIDTH if wide else _width_elsewhere()
        self._console = Console(file=self._file, width=width, highlight=False, emoji=False)
        self._buffer = io.StringIO()
        self._pen = Console(
            file=self._buffer,
            width=self._console.width,
            force_terminal=is_terminal,
            color_system=self._console.color_system,  # type: ignore[arg-type]  # one of the names it takes
            legacy_windows=False,
            highlight=False,
            emoji=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            lines = (line.rstrip() for line in self._buffer.getvalue().splitlines())
            self._file.write("".join(f"{line}\n" for line in lines))

    def gap(self) -> None:
        """Leave one line empty."""
        self._pen.print()

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one paragraph of plain parts and (text, style) parts."""
        self._pen.print(Text.assemble(*parts))

    def text(self, text: str, *, indent: int = 0, mark: str = "") -> None:
        """Print one paragraph with a hanging indent; `mark` stands before its first line."""
        blank = " " * indent
        hanging = blank + " " * len(mark)
        for line in wrap(
            text,
            self._pen.width - 1,
            initial_indent=blank + mark,
            subsequent_indent=hanging,
            break_long_words=False,
            break_on_hyphens=False,
        ):
            self._pen.print(Text(line), soft_wrap=True)

    def verbatim(self, text: str) -> None:
        """Print one line as it is, however long, to be copied."""
        self._pen.print(Text(text), soft_wrap=True)

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        numbers: Iterable[int] = (),
        styles: Mapping[str, str] | None = None,
    ) -> None:
        """Print a table; columns in `numbers` are right-aligned, cells that are keys of `styles` coloured."""
        right, words = set(numbers), styles or {}
        drawn = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for index, head in enumerate(heads):
            drawn.add_column(head, justify="right" if index in right else "left", overflow="fold")
        for row in rows:
            drawn.add_row(*(Text(cell, style=words.get(cell, "")) for cell in row))
        self._pen.print(drawn)

    def diagnostic(self, each: Diagnostic) -> None:
        """Print one finding about an object, and what would mend it."""
        where = f"{each.place} " if str(each.place) else ""
        self.line(where, (each.severity, _SEVERITY_STYLES[each.severity]), f" {each.code}: {each.message}")
        if each.fix:
            self.text(each.fix, indent=4, mark="→ ")


def _width_elsewhere() -> int:
    try:
        return max(40, int(os.environ["COLUMNS"]))
    except (KeyError, ValueError):
        return WIDTH_IN_A_PIPE
