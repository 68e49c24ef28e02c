"""Keys that charts read from their values, from the table `chart_values`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import read_table


class ChartKeys(Struct, frozen=True, kw_only=True):
    """The keys that a chart reads from one mapping of its values.

    `path` is the dotted path of the mapping, "" for all values. `version` is the chart's version in
    the table. `only_with` is a resource type that distinguishes the chart from other charts with
    the same name, or "".
    """

    path: str
    keys: tuple[str, ...]
    version: tuple[int, ...]
    only_with: str


@cache
def chart_keys() -> Mapping[str, tuple[ChartKeys, ...]]:
    """Return the keys of each chart by its name, in table order."""
    found: dict[str, list[ChartKeys]] = {}
    for row in read_table("chart_values"):
        found.setdefault(row["chart"], []).append(
            ChartKeys(
                path=row["path"],
                keys=tuple(row["keys"].split()),
                version=tuple(map(int, row["version"].split("."))),
                only_with=row["only_with"],
            )
        )
    return {chart: tuple(rows) for chart, rows in found.items()}
