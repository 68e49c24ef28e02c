"""Facts that expire: the observation, its date, and how long the fact remains valid."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

from msgspec import Struct

from dra_planner.catalog.dates import day
from dra_planner.catalog.tables import Row, read_table, sources

_DATES = ("seen_on", "as_of", "released")  # columns with the date on which a row was read


class DatedFact(Struct, frozen=True, kw_only=True):
    """A fact about something that changes without this project."""

    key: str
    about: str
    newest: str  # newest known version, or "" for a table
    table: str  # name of the table with the facts, or "" for a version
    seen_on: date
    true_until: date
    verify: str  # place to check for a newer version
    source: str

    def is_outdated(self, today: date) -> bool:
        """Return True if the fact must be verified again."""
        return today > self.true_until

    def sentence(self) -> str:
        """Return the observation, its date, and its expiry date."""
        version = f" (newest: {self.newest})" if self.newest else ""
        return (
            f"{self.about[0].upper()}{self.about[1:]}{version}: checked on {self.seen_on}, valid "
            f"until {self.true_until}"
        )


@cache
def dated_facts() -> tuple[DatedFact, ...]:
    """Return every fact with a date, in order of expiry.

    A table has one fact for each of its sources, with the oldest date of that source's rows.
    """
    found = [each for row in read_table("facts") for each in _facts(row)]
    return tuple(sorted(found, key=lambda each: (each.true_until, each.key)))


def fact(key: str) -> DatedFact | None:
    """Return the fact with this key, or None if there is none. For a table, return the part that
    expires first.
    """
    return next((each for each in dated_facts() if each.key == key), None)


def outdated(today: date) -> tuple[DatedFact, ...]:
    """Return the facts that must be verified again, starting with the oldest."""
    return tuple(each for each in dated_facts() if each.is_outdated(today))


def _facts(row: Row) -> Iterator[DatedFact]:
    seen = day(row, "seen_on")
    if seen is not None:
        yield _fact(row, seen, row["source"])
        return
    dates: dict[str, date] = {}
    for each in read_table(row["table"]):
        key = each["source"].split()[0]
        found = next((at for column in _DATES if (at := day(each, column))), None) or _of_source(
            key
        )
        if found is not None:
            dates[key] = min(found, dates.get(key, found))
    for key, at in dates.items():
        yield _fact(row, at, key)


def _fact(row: Row, seen: date, source: str) -> DatedFact:
    return DatedFact(
        key=row["fact"],
        about=row["about"],
        newest=row["newest"],
        table=row["table"],
        seen_on=seen,
        true_until=seen + timedelta(days=int(row["days"])),
        verify=row["verify"],
        source=source,
    )


def _of_source(key: str) -> date | None:
    text = sources()[key].as_of
    return date.fromisoformat(text) if text else None
