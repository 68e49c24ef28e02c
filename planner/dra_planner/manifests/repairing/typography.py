"""Replace typographic characters from word processors and web pages."""

from __future__ import annotations

import re
from typing import Final

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_SEPARATOR: Final = re.compile(rf"^[-{_DASHES}]+\s*$")
_MARKER: Final = re.compile(rf"^(\s*)[{_DASHES}](?=\s)")
_BLANKS: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_NOTHING: Final = re.compile("[\u200b\ufeff]")
_TABS: Final = re.compile(r"^\t+")
_QUOTES: Final = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'"}
)
_EXPRESSION: Final = re.compile(r"(expression:\s+)([^'\"|>\s{][^{}]*?)(\s*\}+\]*)?$")


def with_plain_signs(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with plain hyphens, quotes, and spaces, and a description of each kind of
    change.
    """
    changes: dict[str, None] = {}
    lines = [_line(line, changes) for line in text.split("\n")]
    return "\n".join(lines), tuple(changes)


def plain_separator(line: str) -> str:
    """Return the document separator that a line of hyphens and dashes stands for. Other lines stay
    unchanged.
    """
    return "---" if _SEPARATOR.match(line) and any(sign in line for sign in _DASHES) else line


def _line(line: str, changes: dict[str, None]) -> str:
    def note(new: str, what: str) -> str:
        if new != line:
            changes[what] = None
        return new

    line = note(_NOTHING.sub("", _BLANKS.sub(" ", line)), "plain spaces")
    line = note(_TABS.sub(lambda match: "  " * len(match[0]), line), "spaces instead of tabs")
    line = note(plain_separator(line), "plain hyphens")
    line = note(_MARKER.sub(r"\1-", line), "plain hyphens")
    if line.translate(_QUOTES) != line:
        line = note(_quoted(line.translate(_QUOTES)), "straight quotes")
    return line


def _quoted(line: str) -> str:
    """Return the line with its expression in single quotes, if the expression contains double
    quotes.
    """
    match = _EXPRESSION.search(line)
    if match is None or "'" in match[2]:
        return line
    return f"{line[: match.start()]}{match[1]}'{match[2]}'{match[3] or ''}"
