"""Values that the clouds' APIs accept for properties whose type doesn't list the values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import read_table


class ApiValues(Struct, frozen=True, kw_only=True):
    """The values of one property: a list of values, of keys of a mapping, or a range.

    `property` is a dotted path in which `[]` iterates over a list, and `%2E` represents a dot in a
    key. `ignores_case` marks values for which the API ignores case, and which it can return in a
    different case. `grows` marks lists that newer versions of the API extend.
    """

    property: str
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    range: tuple[int, int] | None = None
    ignores_case: bool = False
    grows: bool = False

    def has(self, value: str) -> bool:
        """Return whether the API defines a value of the list."""
        if self.ignores_case:
            return value.casefold() in map(str.casefold, self.values)
        return value in self.values


@cache
def api_values() -> Mapping[str, tuple[ApiValues, ...]]:
    """Return the values by resource type, in table order."""
    found: dict[str, list[ApiValues]] = {}
    for row in read_table("api_values"):
        listed = tuple(row["value"].split("|"))
        low, _, high = row["value"].partition(" to ")
        found.setdefault(row["type"], []).append(
            ApiValues(
                property=row["property"],
                values=listed if row["kind"] in ("values", "words") else (),
                keys=listed if row["kind"] == "keys" else (),
                range=(int(low), int(high)) if row["kind"] == "range" else None,
                ignores_case=row["kind"] == "words",
                grows=row["grows"] == "yes",
            )
        )
    return {token: tuple(rows) for token, rows in found.items()}
