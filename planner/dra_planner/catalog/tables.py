"""The tables in `data/`: one CSV file per subject, one row per fact, read on first use.

A distribution that adds a cloud adds rows in its own `dra_planner/data/`.

Units are in the column names (`memory_mib`, `usd_per_hour`), an empty cell means that the fact has
no source, and `source` names rows of `sources.csv`.
"""

from __future__ import annotations

import csv
import os.path
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Literal

from msgspec import Struct

from dra_planner.errors import CatalogError
from dra_planner.wording import either

Row = Mapping[str, str]
Confidence = Literal["observed", "documented", "derived", "high", "medium", "low"]


class FactSource(Struct, frozen=True):
    """A source of facts: its description, version, date ("" if unknown), and license."""

    key: str
    what: str
    ref: str
    as_of: str
    licence: str


class Provenance(Struct, frozen=True):
    """The keys of a row's sources, and its confidence.

    For GPUs, profiles, and drivers: observed on hardware, documented, or derived from partial
    evidence. For machines: high (a record of the cloud's own API), medium (older or assembled), or
    low (incomplete).
    """

    sources: tuple[str, ...]
    confidence: Confidence
    note: str = ""


@cache
def read_table(name: str) -> tuple[Row, ...]:
    """Return the rows of `data/<name>.csv` in file order, with every value as text, followed by the
    rows from other folders.

    Raises CatalogError if the table doesn't exist.
    """
    rows: list[Row] = []
    folders = sys.modules["dra_planner"].__path__
    files = [
        file
        for folder in folders
        if os.path.isfile(file := os.path.join(folder, "data", f"{name}.csv"))
    ]
    if not files:
        raise CatalogError(
            f"the table {name}.csv can't be read",
            fix="install the package from a wheel or a checkout",
        )
    for file in files:
        with open(file, encoding="utf-8", newline="") as text:
            lines = csv.reader(text)
            columns = next(lines, [])
            rows += [dict(zip(columns, line, strict=True)) for line in lines]
    return tuple(rows)


@cache
def sources() -> Mapping[str, FactSource]:
    """Return every source by its key."""
    rows = read_table("sources")
    return {
        row["source"]: FactSource(
            row["source"], row["what"], row["ref"], row["as_of"], row["licence"]
        )
        for row in rows
    }


def provenance(row: Row) -> Provenance:
    """Return the source of a row. A row without a confidence counts as documented."""
    confidence: Confidence = row.get("confidence") or "documented"  # type: ignore[assignment]  # tests check the column
    return Provenance(tuple(row["source"].split()), confidence, row.get("note", ""))


def integer(row: Row, column: str) -> int | None:
    """Return the number in a cell.

    Returns None if the cell is empty, or if the table doesn't have the column.
    """
    text = row.get(column, "")
    return int(text) if text else None


def flag(row: Row, column: str) -> bool | None:
    """Return yes or no as a bool, or None if the cell is empty."""
    return {"yes": True, "no": False}.get(row.get(column, ""))


def unknown(kind: str, name: str, known: list[str], *, fix: str = "") -> CatalogError:
    """Return the error for a name that isn't in any table, with at most four similar names."""
    lowered = {candidate.lower(): candidate for candidate in reversed(known)}
    near = [
        candidate for candidate in known if name and candidate.lower().startswith(name.lower())
    ][:4]
    near = near or [
        lowered[match] for match in get_close_matches(name.lower(), list(lowered), n=4, cutoff=0.6)
    ]
    if not near and len(known) <= 12:
        near = known
    hint = f"did you mean {either(near)}?" if near else fix
    return CatalogError(f'unknown {kind} "{name}"', fix=hint or fix)
