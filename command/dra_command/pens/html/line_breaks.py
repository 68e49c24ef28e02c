"""Where the lines of an HTML report may break: not inside a short name, and inside a long name or
expression only between its parts.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from dra_command.pens.visible_text import visible

UNBROKEN: Final = 30  # maximum characters of a name that stays on one line, which fits a phone
_WORD: Final = re.compile(r"\S+")
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
    return Markup(_WORD.sub(lambda word: _breakable(word[0]), visible(text)))


def _breakable(word: str) -> str:
    if len(word) > UNBROKEN:
        name = word.rstrip(".,;:")
        return "<wbr>".join(map(escape, _PART.findall(name))) + word[len(name) :]
    return f'<span class="nw">{escape(word)}</span>' if "-" in word else escape(word)
