"""The format of `--help` on narrow terminals: prose is wrapped, and long commands continue after a
backslash, so that they can be copied.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Final

from dra_command.pens.terminal.wrapping import wrapped

_TWO_STATUSES: Final = re.compile(r"(  \d  .*?) +(\d  .*)")
_STATUS: Final = re.compile(r"  \d  | {30}")
_NUMBER: Final = re.compile(r"\d  ")
_COMMAND: Final = re.compile(r"    \S")
_WORD: Final = re.compile(r"""(?:"[^"]*"|'[^']*'|\S)+""")
_LIST_PART: Final = re.compile(r",*[^,]+,*|,+")

_TWO_COLUMNS: Final = 76  # width of lines with two exit statuses
_STATUS_MARGIN: Final = 3  # characters of a status before its text
_COMMAND_MARGIN: Final = 8  # indentation and backslash
_NARROW_POSITION: Final = 20  # column of the options' descriptions on narrow terminals


class HelpFormat(argparse.RawDescriptionHelpFormatter):
    """Wraps the paragraphs and examples that are wider than the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        if self._width + 2 < _TWO_COLUMNS:
            self._max_help_position = min(self._max_help_position, _NARROW_POSITION)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        columns = width + 2  # argparse subtracts a margin, which our texts don't need
        lines = (line for block in _blocks(text) for line in _fitted(block, columns))
        return "\n".join(f"{indent}{line}" for line in lines) + "\n" * text.endswith("\n")

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(" ".join(text.split()), width)


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph and command together, and other lines separately."""
    block: list[str] = []
    for line in text.splitlines():
        if block and not _continues(line, block[-1]):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _continues(line: str, before: str) -> bool:
    is_same = _is_prose(before) and _is_prose(line) and _margin(before) == _margin(line)
    return is_same or before.endswith("\\")


def _is_prose(line: str) -> bool:
    is_other = _STATUS.match(line) or line.endswith(":") or len(_margin(line)) >= 4
    return bool(line) and not is_other


def _margin(line: str) -> str:
    return " " * (len(line) - len(line.lstrip()))


def _fitted(block: Sequence[str], columns: int) -> Iterator[str]:
    first = block[0]
    statuses = _TWO_STATUSES.fullmatch(first) if columns < _TWO_COLUMNS else None
    if statuses:
        yield from (*_status(statuses[1], columns), *_status(statuses[2], columns))
    elif columns < _TWO_COLUMNS and _STATUS.match(first):
        yield from _status(first, columns)
    elif all(len(line) <= columns for line in block):
        yield from block
    elif _COMMAND.match(first):
        yield from _folded(block, columns)
    elif _is_prose(first):
        text = " ".join(line.strip() for line in block)
        yield from wrapped(text, columns, first=_margin(first), rest=_margin(first))
    else:
        yield from block


def _status(line: str, columns: int) -> Iterator[str]:
    """Yield the lines of an exit status, or of text that continues one."""
    text = line.strip()
    number = text[:_STATUS_MARGIN] if _NUMBER.match(text) else ""
    margin = " " * (2 + _STATUS_MARGIN)
    first = f"  {number}" if number else margin
    yield from wrapped(text.removeprefix(number), columns, first=first, rest=margin)


def _folded(block: Sequence[str], columns: int) -> Iterator[str]:
    """Yield the lines of a command, which continue before options, pipes, and redirections, or
    otherwise before words, and in long lists after commas.
    """
    (_, line), *others = _command_parts("".join(line.removesuffix("\\") for line in block), columns)
    line = f"    {line}"
    for gap, part in others:
        if len(line) + len(gap + part) + 2 <= columns:
            line += gap + part
        else:
            yield f"{line}{gap}\\"
            line = f"      {part}" if gap else part
    yield line


def _command_parts(command: str, columns: int) -> Iterator[tuple[str, str]]:
    """Yield the parts of a command that need to be in one line, and the space before each."""
    options: list[str] = []
    for word in _WORD.findall(command):
        if options and not word.startswith(("-", "|", ">")):
            options[-1] += f" {word}"
        else:
            options.append(word)
    for option in options:
        if len(option) + _COMMAND_MARGIN <= columns:
            yield " ", option
            continue
        for word in _WORD.findall(option):
            # a backslash and a line break inside quotes would be part of the value
            first, *others = [word] if "'" in word or '"' in word else _LIST_PART.findall(word)
            yield " ", first
            yield from (("", part) for part in others)
