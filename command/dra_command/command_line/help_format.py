"""The format of `--help`: prose is wrapped on narrow terminals. Commands aren't wrapped, so that
they can be copied.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Final

_TWO_STATUSES: Final = re.compile(r"(  \d  .*?) +(\d  .*)")

_TWO_COLUMNS: Final = 76  # width of lines with two exit statuses
_SECOND_STATUS: Final = 30  # minimum column of text that continues the second status of a line


class HelpFormat(argparse.RawDescriptionHelpFormatter):
    """Wraps the lines of descriptions and examples that are wider than the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        columns = width + 2  # argparse subtracts a margin, which our texts don't need
        lines = (fitted for line in text.splitlines() for fitted in _fitted(line, columns))
        return "\n".join(f"{indent}{line}" for line in lines) + "\n" * text.endswith("\n")


def _fitted(line: str, columns: int) -> Iterator[str]:
    is_command = line.startswith("    ") or line.endswith("\\")
    statuses = _TWO_STATUSES.fullmatch(line) if columns < _TWO_COLUMNS else None
    if statuses:
        yield from (statuses[1], f"  {statuses[2]}")
    elif columns < _TWO_COLUMNS and line.startswith(" " * _SECOND_STATUS):
        yield f"     {line.strip()}"
    elif len(line) <= columns or is_command:
        yield line
    else:
        margin = " " * (len(line) - len(line.lstrip()))
        yield from wrap(line, columns, subsequent_indent=margin)
