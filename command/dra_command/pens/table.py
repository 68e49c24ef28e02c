"""A table of text that is independent of the output format."""

from __future__ import annotations

from msgspec import Struct


class Table(Struct, frozen=True):
    """A title, column heads, and rows of text; columns in `numbers` are right-aligned."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    note: str = ""
