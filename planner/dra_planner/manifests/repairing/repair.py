"""Repair one text by trying all candidates.

The result is the only candidate that the reader accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from msgspec import Struct

from dra_planner.documents.stream import split_stream
from dra_planner.manifests.repairing.indentation import indentations
from dra_planner.manifests.repairing.typography import with_plain_signs

MOST_TEXTS = 64  # maximum number of candidates that the reader tries


class TextRepair(Struct, frozen=True):
    """The repaired text, and descriptions of the changes."""

    text: str
    changes: tuple[str, ...]


def repair(text: str, minor: int, accepts: Callable[[str], bool]) -> TextRepair | None:
    """Return the repaired text, or None if it's valid, can't be repaired, or has several possible
    repairs. `accepts` returns True if the reader accepts the form of a text.
    """
    if accepts(text):
        return None
    plain, signs = with_plain_signs(text)
    if signs and accepts(plain):
        return TextRepair(plain, signs)
    accepted = [each for each in islice(_indented(plain, minor), MOST_TEXTS) if accepts(each)]
    if len(accepted) != 1:
        return None
    return TextRepair(accepted[0], (*signs, "indented by the fields of each kind"))


def _indented(text: str, minor: int) -> Iterator[str]:
    """Yield the text with each flat document indented in every way that the types allow."""
    parts = [(part, separator) for part, separator in split_stream(text)]
    yield from _from(parts, minor)


def _from(parts: list[tuple[str, str]], minor: int) -> Iterator[str]:
    if not parts:
        yield ""
        return
    (part, separator), *rest = parts
    head = f"{separator}\n" if separator and not separator.endswith("\n") else separator
    for first in indentations(part, minor):
        for last in _from(rest, minor):
            yield head + first + last
