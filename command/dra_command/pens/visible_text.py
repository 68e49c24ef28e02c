"""Names and messages from foreign files, made safe to print: invisible and control characters are
shown.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 4_000
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_NAME: Final = re.compile(rf"""[^\s&|()=<>,"'`\[\]{{}}]{{{LONGEST_NAME + 1},}}""")


def visible(text: str) -> str:
    """Return text in one line.

    Control characters, and characters that reverse or hide text, are replaced by visible escapes.
    Names longer than `LONGEST_NAME` and texts longer than `LONGEST_TEXT` are truncated.
    """
    if not text.isprintable() or len(text) > LONGEST_NAME:
        text = _HIDDEN.sub(_written_out, re.sub(r"\r?\n|\t", " ", text))
        text = _NAME.sub(lambda found: f"{found[0][:LONGEST_NAME]}…", text)
    elif _HIDDEN.search(text):
        text = _HIDDEN.sub(_written_out, text)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def short(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name for a table cell: `visible`, and truncated to this number of characters."""
    seen = visible(name)
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def middle(name: str, most: int) -> str:
    """Return a name with at most this number of characters. The ellipsis is in its middle, because
    the names of related objects often differ only at the end.
    """
    tail = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def xml_text(text: str) -> str:
    """Remove characters that XML 1.0 can't represent, even if they are escaped."""
    return "".join(
        sign for sign in text if sign in "\t\n\r" or (sign >= " " and sign not in "\ufffe\uffff")
    )


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
