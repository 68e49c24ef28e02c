"""Values that the clouds' APIs accept for properties whose type doesn't list the values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

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
    range: tuple[int | None, int | None] | None = None
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
        found.setdefault(row["type"], []).append(
            ApiValues(
                property=row["property"],
                values=listed if row["kind"] in ("values", "words") else (),
                keys=listed if row["kind"] == "keys" else (),
                range=_range(row["value"]) if row["kind"] == "range" else None,
                ignores_case=row["kind"] == "words",
                grows=row["grows"] == "yes",
            )
        )
    for token, rows in _of_providers():
        known = {each.property: each for each in found.get(token, ())}
        for each in rows:
            known[each.property] = _joined(known.get(each.property, each), each)
        found[token] = list(known.values())
    return {token: tuple(rows) for token, rows in found.items()}


def _joined(model: ApiValues, provider: ApiValues) -> ApiValues:
    """Return the values of a model, with the values that a newer provider adds if the list can
    grow.
    """
    if not model.grows:
        return model
    return replace(model, values=tuple(dict.fromkeys((*model.values, *provider.values))))


def _range(text: str) -> tuple[int | None, int | None]:
    low, _, high = text.partition("to")
    return int(low) if low.strip() else None, int(high) if high.strip() else None


def _of_providers() -> Iterator[tuple[str, list[ApiValues]]]:
    """Yield the values that providers accept, by resource type.

    Newer versions can accept more values.
    """
    for row in read_table("provider_rules"):
        path, accepts = row["property"].replace("[*]", "[]"), row["accepts"]
        if least := accepts.removeprefix(">=") if accepts.startswith(">=") else "":
            yield row["type"], [ApiValues(property=path, range=(int(least), None))]
        elif " to " in accepts:
            yield row["type"], [ApiValues(property=path, range=_range(accepts))]
        elif "|" in accepts:
            values = tuple(filter(None, accepts.split("|")))
            yield row["type"], [ApiValues(property=path, values=values, grows=True)]
