"""Functions on strings.

Source of the behavior: google/cel-go:ext/strings.go, common/types/string.go @v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.libraries.formatting import format_text
from dra_planner.cel.libraries.operators import MAX_SIZE, known
from dra_planner.cel.values import CelError, CostExceeded, show

_LOWER: Final = {code: code + 32 for code in range(65, 91)}
_UPPER: Final = {code + 32: code for code in range(65, 91)}
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
_QUOTED: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        if not part:
            return len(text)
        if len(text.encode()) < len(part.encode()):
            return -1
        start = len(text) - 1
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    found = text.count(old) if count < 0 else min(count, text.count(old))
    if len(text) + found * (len(new) - len(old)) > MAX_SIZE:
        raise CostExceeded
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if count < 0 or count > len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]] if text else []


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        end = len(text)
    elif start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _join(items: list[Any], separator: str = "") -> str:
    for item in map(known, items):
        if item.__class__ is not str:
            raise CelError(f"join: invalid input: {show(item)}")
    if sum(map(len, items)) + len(separator) * max(len(items) - 1, 0) > MAX_SIZE:
        raise CostExceeded
    return separator.join(items)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "contains_string": lambda text, part: part in text,
    "starts_with_string": lambda text, part: text.startswith(part),
    "ends_with_string": lambda text, part: text.endswith(part),
    "string_char_at_int": _char_at,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "string_last_index_of_string": _last_index_of,
    "string_last_index_of_string_int": _last_index_of,
    "string_lower_ascii": lambda text: text.translate(_LOWER),
    "string_upper_ascii": lambda text: text.translate(_UPPER),
    "string_replace_string_string": _replace,
    "string_replace_string_string_int": _replace,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "string_substring_int": _substring,
    "string_substring_int_int": _substring,
    "string_trim": lambda text: text.strip(_SPACE),
    "string_format": format_text,
    "strings_quote": lambda text: f'"{text.translate(_QUOTED)}"',
    "list_join": _join,
    "list_join_string": _join,
}


def _within(find: Callable[..., int]) -> Callable[..., int]:
    """Return a search function that finds the empty string at `start`, or at the end of a shorter
    text.
    """

    def found(text: str, part: str, start: int) -> int:
        return min(start, len(text)) if not part else find(text, part, start)

    return found


BOUNDED_SEARCHES: Final[dict[str, Callable[..., Any]]] = {
    "string_index_of_string_int": _within(_index_of),
    "string_last_index_of_string_int": _within(_last_index_of),
}
"""Searches that find the empty string at `start`, or at the end of a shorter text."""
