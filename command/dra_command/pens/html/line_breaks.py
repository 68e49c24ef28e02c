"""Where the lines of an HTML report may break: not inside a short name, not between a number and
its unit, and inside a long name or expression only between its parts.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from dra_command.pens.visible_text import visible

UNBROKEN: Final = 30  # maximum characters of a name that stays on one line, which fits a phone
CODE: Final = re.compile(r"`([^`]+)`")
"""Code in messages. A split returns text and code by turns."""
_WORD: Final = re.compile(
    r"""
    (?P<amount>
      \(?USD[ ][\d.,]*\d
      | \(seed[ ]\d+\)+
      | \(?(?:\b[A-Z*+][ ])?(?<![\w.,])\d[\d.,]*[ ]                      # a letter, and a number
        (?:×(?:[ ][^\s,()]{1,22}(?=[\s,)]|$))?|[GM]i?B\b|(?:more[ ])?(?:GPU|NIC|node|pod|device|MIG[ ]slice)s?\b)
    )
    | \S+
    """,
    re.VERBOSE,
)
_BEFORE_A_COUNT: Final = re.compile(r" (?=\+?\d+(?:[,)]|$))")
_SHORTEST_PART: Final = 8  # maximum characters of a part that stays with the next part
_PART: Final = re.compile(
    r"""
    "[^"]*"[)\]]*                  # a quoted string, with the brackets that it closes
    | \.?[^."(\[/]+                # a name, with the dot before it
      (?: [(\[/]+ | "[)\]]*$ )?   # and the bracket after it, or the quotation mark that ends it
    | .
    """,
    re.VERBOSE,
)


def wrapped(text: str) -> Markup:
    """Return text escaped for HTML, with the places where its words may break."""
    return Markup(_WORD.sub(_breakable, visible(text)))


def with_unbroken_counts(text: str) -> str:
    """Return text with counts on the same line as the ends of the names before them."""
    return _BEFORE_A_COUNT.sub("\N{NO-BREAK SPACE}", text)


def _breakable(found: re.Match[str]) -> str:
    word = found[0]
    if found["amount"]:
        return _unbroken(word)
    if len(word) > UNBROKEN:
        name = word.rstrip(".,;:")
        return "<wbr>".join(map(_whole_if_short, _parts(name))) + word[len(name) :]
    return _whole_if_short(word)


def _whole_if_short(word: str) -> str:
    """Return a word, without a line break after a hyphen unless it's long."""
    is_whole = len(word) <= UNBROKEN and ("-" in word or "–" in word)
    return _unbroken(word) if is_whole else escape(word)


def _unbroken(text: str) -> str:
    return f'<span class="nw">{escape(text)}</span>'


def _parts(name: str) -> list[str]:
    """Return the parts of a long name. Short parts stay with the next part."""
    parts: list[str] = []
    for part in _PART.findall(name):
        if parts and len(parts[-1]) < _SHORTEST_PART:
            parts[-1] += part
        else:
            parts.append(part)
    return parts
