"""Suggestions for text that isn't valid YAML, from the lines around the fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_BLANKS: Final = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]")
_TEMPLATE: Final = re.compile(r"\{\{|\{%")
_KEY_WITHOUT_SPACE: Final = re.compile(r"^\s*(?:-\s+)?([A-Za-z][\w./-]*):([^\s:/].*)$")
_ITEM_WITHOUT_SPACE: Final = re.compile(r"^\s*-[A-Za-z][\w.-]*:(\s|$)")
_AFTER_QUOTE: Final = re.compile(r"""^\s*(?:-\s+)?[\w./-]+:\s+(?:"[^"]*"|'[^']*')\s*[^\s#,}\]]""")
_TWO_COLONS: Final = re.compile(r"^\s*(?:-\s+)?([\w./-]+):\s+[^\s\"'\[{&*!|>].*:(\s|$)")
_ELLIPSIS: Final = re.compile(
    r"^\s*(?:-\s+)?(?:\.{3}|\u2026|\[(?:\.{3}|\u2026)\]|<(?:\.{3}|snip|omitted)>)\s*$"
)
_PLACEHOLDER: Final = re.compile(r"\$\{\w+\}|\$\(\w+\)|<[A-Za-z][\w .-]*>")
_KEY: Final = re.compile(r"^ *[\w./\"'-]+:(?:\s|$)")
_WITH_VALUE: Final = re.compile(r"^ *[\w./-]+: +[^\s|>&#{\[\"'][^:#]*$")
_UNCLOSED: Final = re.compile(r"^[^\"']*(?:\"[^\"]*|'[^']*)$")


def advise(lines: list[str], line: int) -> str:
    """Return a fix for the text at `line` (1-based in `lines`), or "" if none is known."""
    nearby = [lines[number] for number in (line - 1, line - 2) if 0 <= number < len(lines)]
    for look in _LOOKS:
        for text in nearby:
            found = look(text)
            if found:
                return found
    if any(text.startswith("```") for text in lines):
        return "remove the Markdown fence (```) around the manifest"
    if any(_TEMPLATE.search(text) for text in lines):
        return RENDER
    return next(filter(None, (_level(lines, number) for number in (line - 1, line - 2))), "")


def _level(lines: list[str], at: int) -> str:
    """Return the correct indentation for a key whose indentation doesn't match any open level above
    it.
    """
    if not 0 < at < len(lines) or not _KEY.match(lines[at]):
        return ""
    own = _indent(lines[at])
    levels: list[int] = []
    for text in lines[:at]:
        if text.startswith("---"):
            levels = []
        elif _KEY.match(text):
            levels = [*(level for level in levels if level < _indent(text)), _indent(text)]
    above = next(
        (
            text
            for text in reversed(lines[:at])
            if text.strip() and not text.lstrip().startswith("#")
        ),
        "",
    )
    if own > _indent(above) and _WITH_VALUE.match(above):
        by = own - _indent(above)
        return (
            f"remove {by} leading {'space' if by == 1 else 'spaces'} from this line and the lines "
            "below it, because the line above has a value and can't have fields"
        )
    outer, inner = (
        [level for level in levels if level < own],
        [level for level in levels if level > own],
    )
    if own in levels or not outer or not inner:
        return ""
    return (
        f"to match a line above, indent this line by {outer[-1]} or {inner[0]} spaces instead "
        f"of {own}"
    )


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


RENDER: Final = "render the template first (helm template, kustomize build)"


def _fence(text: str) -> str:
    return (
        "remove the Markdown fence (```) around the manifest"
        if text.lstrip().startswith("```")
        else ""
    )


def _directive(text: str) -> str:
    return (
        "remove the line that begins with %, because kubectl splits the text at --- before it "
        "reads the line"
        if text[:1] == "%"
        else ""
    )


def _tab(text: str) -> str:
    return (
        "indent this line with spaces instead of a tab"
        if "\t" in text[: len(text) - len(text.lstrip())]
        else ""
    )


def _dash(text: str) -> str:
    stripped = text.strip()
    if not stripped or not any(sign in stripped[:3] for sign in _DASHES):
        return ""
    if set(stripped) <= set(_DASHES + "-"):
        return "use three plain hyphens as the separator: ---"
    return "use a plain hyphen as the list marker: -"


def _blank(text: str) -> str:
    indentation = text[: len(text) - len(text.lstrip())]
    return (
        "indent this line with plain spaces instead of non-breaking spaces"
        if _BLANKS.search(indentation)
        else ""
    )


def _template(text: str) -> str:
    return RENDER if _TEMPLATE.search(text) else ""


def _ellipsis(text: str) -> str:
    if not _ELLIPSIS.match(text):
        return ""
    return f"replace `{text.strip()}` with the lines that it represents, or remove it"


def about_placeholder(text: str) -> str:
    """Return a fix for a placeholder in a text, or ""."""
    found = _PLACEHOLDER.search(text)
    return f"replace {found[0]} with a value" if found else ""


def _key(text: str) -> str:
    match = _KEY_WITHOUT_SPACE.match(text)
    return (
        f'put a space after the colon: "{match[1]}: {match[2]}"'
        if match and ": " not in text
        else ""
    )


def _item(text: str) -> str:
    if not _ITEM_WITHOUT_SPACE.match(text):
        return ""
    return f'put a space after the hyphen: "{text.strip().replace("-", "- ", 1)}"'


def _quote(text: str) -> str:
    return (
        "put the whole value in single quotes, because text follows the closing quote"
        if _AFTER_QUOTE.match(text)
        else ""
    )


def _colon(text: str) -> str:
    match = _TWO_COLONS.match(text)
    return (
        f"put the value of {match[1]} in quotes, because it contains a colon and a space"
        if match
        else ""
    )


def _unclosed(text: str) -> str:
    return (
        "close the quotation mark"
        if _UNCLOSED.match(text) and not text.lstrip().startswith("#")
        else ""
    )


_LOOKS: Final[tuple[Callable[[str], str], ...]] = (
    _fence,
    _directive,
    _tab,
    _ellipsis,
    _dash,
    _blank,
    _template,
    _item,
    _key,
    _quote,
    _colon,
    _unclosed,
    about_placeholder,
)
