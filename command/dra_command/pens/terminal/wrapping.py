"""Where lines of text end: at spaces, and between the parts of words longer than a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import TextWrapper
from typing import Final

_NARROW: Final = 80
"""Shorter lines don't end inside short code, even if this leaves space at their end."""
_CODE: Final = re.compile(r"[^\s`]*`[^`]+`[^\s`]*")
# strings in quotes, or a name with the period before it, and an index or a bracket after it
_EXPRESSION_PART: Final = re.compile(r""""[^"]*"|'[^']*'|\.?[^."'(\[]+(?:\[\d+\])*[(\[]*|.""")
_BRACKET: Final = re.compile(r"[(\[]")
_ENDS: Final = "\"'`()[].,;:"  # around a name in a sentence
_NAME_PART: Final = re.compile(r"[^/,]*[/,]+|[^/,]+")
_LONG_NAME_PART: Final = re.compile(r"[^-]*-+|[^-]+")


def wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Return the lines of a text. `first` precedes the first line, and `rest` the other lines. A
    single part of a word that is longer than a line isn't divided.
    """
    return _Wrapper(
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ).wrap(text)


def line_starts(text: str, width: int) -> list[int]:
    """Return the offsets at which the lines of a text start, without the first."""
    starts, end = [], 0
    for line in _Wrapper(width, break_on_hyphens=False).wrap(text):
        start = text.index(line, end)
        starts.append(start)
        end = start + len(line)
    return starts[1:]


class _Wrapper(TextWrapper):
    """Wraps text at spaces. A word that is longer than a line is also divided: an expression or
    field path between its names and strings, so that the additional white space doesn't change the
    expression, and the name of an object or file after its slashes and commas, or its hyphens.
    """

    def _split(self, text: str) -> list[str]:
        longest = self.width - len(self.subsequent_indent)
        parts: list[str] = []
        end = 0
        for code in _CODE.finditer(text) if self.width < _NARROW else ():
            if len(code[0]) <= longest:
                parts += [*self._words(text[end : code.start()], longest), code[0]]
                end = code.end()
        return [*parts, *self._words(text[end:], longest)]

    def _words(self, text: str, longest: int) -> Iterator[str]:
        for word in super()._split(text):
            if len(word) <= longest or "://" in word:
                yield word
            elif _BRACKET.search(word.strip(_ENDS)):
                yield from _EXPRESSION_PART.findall(word)
            else:
                for part in _NAME_PART.findall(word):
                    yield from [part] if len(part) <= longest else _LONG_NAME_PART.findall(part)
