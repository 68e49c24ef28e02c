"""Equality of records that ignores some fields."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TypeVar

from msgspec import Struct

Record = TypeVar("Record", bound=Struct)


def equality(
    *, ignored: tuple[str, ...] = (), unhashed: tuple[str, ...] = ()
) -> Callable[[type[Record]], type[Record]]:
    """Return a decorator for a frozen record that compares all fields except the ignored ones.

    The place where a record was written is ignored, for example. Unhashed fields are compared, but
    aren't part of the hash, because mappings don't have one.
    """

    def decorate(record: type[Record]) -> type[Record]:
        compared = [name for name in record.__struct_fields__ if name not in ignored]
        compared_values = attrgetter(*compared)
        hashed_values = attrgetter(*(name for name in compared if name not in unhashed))

        def __eq__(self: Record, other: object) -> bool:
            if type(other) is not type(self):
                return NotImplemented
            return bool(compared_values(self) == compared_values(other))

        def __hash__(self: Record) -> int:
            return hash(hashed_values(self))

        record.__eq__ = __eq__  # type: ignore[method-assign, assignment]
        record.__hash__ = __hash__  # type: ignore[method-assign, assignment]
        return record

    return decorate
