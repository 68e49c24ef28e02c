"""Where lines of text end: at spaces, and in long expressions between their names and strings."""

from __future__ import annotations

import re
from textwrap import TextWrapper
from typing import Final

# strings in quotes, or a name with the period before it, and an index or a bracket after it
_EXPRESSION_PART: Final = re.compile(r""""[^"]*"|'[^']*'|\.?[^."'(\[]+(?:\[\d+\])*[(\[]*|.""")


class Wrapper(TextWrapper):
    """Wraps text at spaces. An expression or field path that is longer than a line is also divided,
    but not inside strings and names, so that the additional white space doesn't change the
    expression.
    """

    def _split(self, text: str) -> list[str]:
        longest = self.width - len(self.subsequent_indent)
        return [
            part
            for word in super()._split(text)
            for part in (
                _EXPRESSION_PART.findall(word) if _is_long_expression(word, longest) else [word]
            )
        ]


def line_starts(text: str, width: int) -> list[int]:
    """Return the offsets at which the lines of a text with a long expression start, without the
    first. Return no offsets for other texts.
    """
    if not any(_is_long_expression(word, width) for word in text.split(" ")):
        return []
    starts, end = [], 0
    for line in Wrapper(width, break_on_hyphens=False).wrap(text):
        start = text.index(line, end)
        starts.append(start)
        end = start + len(line)
    return starts[1:]


def _is_long_expression(word: str, longest: int) -> bool:
    return len(word) > longest and ("(" in word or "[" in word)
