"""Text for people: on a terminal, with colors and the terminal's width. Elsewhere, plain lines of a
fixed width.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from dra_command.pens.signs import DRAWN, TYPED, Signs, typed
from dra_command.pens.terminal.plain_pen import plain_paragraph, plain_table
from dra_command.pens.terminal.rich_pen import RichPen
from dra_command.pens.terminal.wrapping import wrapped
from dra_command.pens.visible_text import visible
from dra_planner.errors import Diagnostic

if TYPE_CHECKING:
    from dra_command.pens.terminal.rich_pen import RichPen
    from dra_planner.model import Verdict

WIDTH_IN_A_PIPE = 120
_ANY_WIDTH = 1_000
_FORCES_COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE")
VERDICT_STYLES: Mapping[Verdict, str] = {
    "fits": "green",
    "does-not-fit": "red",
    "cannot-tell": "yellow",
}
_SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}


class Page:
    """Collects lines and tables, and prints them when the context ends without an error.

    No line ends with spaces. Rich is imported only for colors, and for words and tables that are
    wider than the page.
    """

    def __init__(self, file: TextIO | None = None, *, wide: bool = False) -> None:
        """`wide`: in a pipe, tables are as wide as their content, for programs that read lines."""
        self._file = file or sys.stdout
        self._lines: list[str] = []
        self._has_colours = self._file.isatty() or any(
            os.environ.get(name) for name in _FORCES_COLOURS
        )
        self._fixed_width = (
            None if self._file.isatty() else _ANY_WIDTH if wide else _width_elsewhere()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            text = "".join(f"{line}\n" for line in self._lines)
            self._file.write(text if self.signs is DRAWN else typed(text, self._encoding))

    @property
    def width(self) -> int:
        """Number of columns in a line."""
        return self._pen.width if self._fixed_width is None else self._fixed_width

    @cached_property
    def signs(self) -> Signs:
        """The signs that figures use, if the output can display them."""
        try:
            "✓✕█▓░▒▏─→·".encode(self._encoding)
        except (UnicodeEncodeError, LookupError):
            return TYPED
        return DRAWN

    @property
    def _encoding(self) -> str:
        return getattr(self._file, "encoding", None) or "utf-8"

    def gap(self) -> None:
        """Leave one line empty."""
        self._lines.append("")

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one paragraph of plain parts and (text, style) parts."""
        parts = tuple(
            visible(part) if isinstance(part, str) else (visible(part[0]), part[1])
            for part in parts
        )
        text = "".join(part if isinstance(part, str) else part[0] for part in parts)
        plain = None if self._has_colours else plain_paragraph(text, self.width)
        self._lines += plain if plain is not None else self._pen.paragraph(parts, folds=True)

    def text(self, text: str, *, indent: int = 0, mark: str = "") -> None:
        """Print one paragraph with a hanging indent. `mark` precedes its first line."""
        blank = " " * indent
        hanging = blank + " " * len(mark)
        for line in wrapped(visible(text), self.width - 1, first=blank + mark, rest=hanging):
            self.verbatim(line)

    def verbatim(self, text: str, style: str = "") -> None:
        """Print one line without wrapping it, so that it can be copied."""
        plain = None if style and self._has_colours else plain_paragraph(text, len(text))
        self._lines += (
            plain
            if plain is not None
            else self._pen.paragraph([(text, style) if style else text], folds=False)
        )

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        numbers: Iterable[int] = (),
        styles: Mapping[str, str] | None = None,
    ) -> None:
        """Print a table. Columns in `numbers` are right-aligned, and cells that are keys of
        `styles` are colored.
        """
        cells, right = [[visible(cell) for cell in row] for row in rows], frozenset(numbers)
        plain = None if self._has_colours else plain_table(heads, cells, right, self.width)
        self._lines += (
            plain if plain is not None else self._pen.table(heads, cells, right, styles or {})
        )

    def diagnostic(self, each: Diagnostic) -> None:
        """Print one finding about an object, and its fix."""
        where = f"{each.place} " if str(each.place) else ""
        self.line(
            where, (each.severity, _SEVERITY_STYLES[each.severity]), f" {each.code}: {each.message}"
        )
        if each.fix:
            self.text(each.fix, indent=4, mark="→ ")

    @cached_property
    def _pen(self) -> RichPen:
        return RichPen(self._file, self._fixed_width)


def print_note(text: str, file: TextIO | None = None) -> None:
    """Print a note, by default on standard error. It's wrapped on a terminal, but not for other
    programs. If the note starts with spaces, all of its lines are indented.
    """
    file = file or sys.stderr
    if not file.isatty():
        print(visible(text), file=file)
        return
    with Page(file) as page:
        page.text(text.lstrip(), indent=len(text) - len(text.lstrip()))


def _width_elsewhere() -> int:
    try:
        return max(40, int(os.environ["COLUMNS"]))
    except (KeyError, ValueError):
        return WIDTH_IN_A_PIPE
