"""Times at which a pool has its nodes: weekly hours, or one period. Plain values without access to
a clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
DAYS: tuple[Day, ...] = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
UTC_ZONE = "Etc/UTC"
_INSTANT = "%Y-%m-%dT%H:%M:%SZ"


class Hours(Struct, frozen=True, kw_only=True):
    """Weekly hours from `start` to `end`, as times of the day in `time_zone`.

    An end before the start is on the next day. `days` are the days on which it starts, from DAYS.
    """

    start: str
    end: str
    days: tuple[Day, ...] = DAYS
    time_zone: str = UTC_ZONE

    def __str__(self) -> str:
        days = (
            "every day"
            if set(self.days) == set(DAYS)
            else ", ".join(day for day in DAYS if day in self.days)
        )
        return f"{days} from {self.start} to {self.end} ({self.time_zone})"


class Period(Struct, frozen=True, kw_only=True):
    """One period from `start` to `end`, both in the form 2026-12-01T11:30:00Z."""

    start: str
    end: str

    def __str__(self) -> str:
        return f"from {self.start} to {self.end}"


Schedule = Hours | Period


def read_instant(text: str) -> datetime:
    """Return the time in a text of the form 2026-12-01T11:30:00Z. Raises ValueError."""
    return datetime.strptime(text, _INSTANT).replace(tzinfo=UTC)


def schedule_fault(schedule: Schedule) -> str:
    """Return why a schedule with valid parts can't work, or ""."""
    if isinstance(schedule, Hours):
        same = schedule.start == schedule.end
        return (
            "start and end are the same; use different times, or remove the schedule to run "
            "the nodes all the time"
            if same
            else ""
        )
    if read_instant(schedule.end) > read_instant(schedule.start):
        return ""
    return f"the end, {schedule.end}, isn't after the start, {schedule.start}"


def time_of_day_fault(text: str) -> str:
    """Return why a text isn't a time of the day, or ""."""
    return (
        ""
        if re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text)
        else f'"{text}" isn\'t a time of day; use the form "08:00"'
    )


def instant_fault(text: str) -> str:
    """Return why a text isn't a point in time, or ""."""
    try:
        read_instant(text)
    except ValueError:
        return f'"{text}" isn\'t a date and time in UTC; use the form "2026-12-01T11:30:00Z"'
    return ""


def time_zone_fault(name: str) -> str:
    """Return why a text isn't a time zone of this machine's IANA database, or ""."""
    try:
        ZoneInfo(name)
    # a ZoneInfoNotFoundError is a KeyError, and a folder causes an OSError
    except (KeyError, ValueError, OSError):
        return (
            f'"{name}" isn\'t a known time zone; use an IANA time zone, for example '
            '"Europe/Berlin". If valid names fail, install tzdata'
        )
    return ""
