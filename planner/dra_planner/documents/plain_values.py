"""Access to unchecked plain data. A value with an unexpected type counts as missing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_DIGITS: Final = re.compile(r"\s*[0-9]{1,18}\s*")


def block(data: Any, key: str) -> Mapping[str, Any]:
    """Return the block below a key, even if it's written as a list with one item.

    Returns an empty block if there is none.
    """
    found = data.get(key) if isinstance(data, Mapping) else None
    if isinstance(found, list):
        found = found[0] if found else None
    return found if isinstance(found, Mapping) else {}


def named_blocks(data: Any, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the mappings in the mapping below a key, each with its name."""
    for name, each in block(data, key).items():
        if isinstance(each, Mapping):
            yield str(name), each


def blocks(data: Any, key: str) -> list[Mapping[str, Any]]:
    """Return the blocks below a key."""
    found = data.get(key) if isinstance(data, Mapping) else None
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def number(value: Any) -> int | None:
    """Return an integer, even if it's written as text, or None for other values."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return (
        int(value)
        if isinstance(value, int) or (isinstance(value, str) and _DIGITS.fullmatch(value))
        else None
    )


def whole(value: Any) -> int | None:
    """Return a number without its fraction, even if it's written as text.

    Returns None if the value isn't a finite number.
    """
    return int(value) if isinstance(value, float) and math.isfinite(value) else number(value)


def text(value: Any) -> str:
    """Return text, or "" for a value that isn't text or is unknown."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def labels(value: Any) -> dict[str, str]:
    """Return labels. Values that aren't text are converted as Kubernetes would read them."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(key): str(each).lower() if isinstance(each, bool) else str(each)
        for key, each in value.items()
    }


def listed(value: Any) -> tuple[Any, ...]:
    """Return the items of a list, or an empty list for other values."""
    return tuple(value) if isinstance(value, list) else ()


def indexed_blocks(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the mappings in a list, each with its index in it."""
    for index, each in enumerate(listed(value)):
        if isinstance(each, Mapping):
            yield index, each


def all_texts(data: Any) -> Iterator[str]:
    """Yield every text in the data, including keys."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield str(key)
            yield from all_texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from all_texts(value)


def plain(value: Any) -> Any:
    """Return plain data without the reader's lines."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value
