"""Durations and timestamps.

Source of the behavior: google/cel-go:common/types/{duration,timestamp}.go,
common/stdlib/standard.go @v0.26.0; Go's package time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dra_planner.cel.values import INT_MAX, CelError, Duration, Timestamp

_NANOS: Final = 10**9
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _NANOS,
    "m": 60 * _NANOS,
    "h": 3600 * _NANOS,
}
_DURATION: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)", re.ASCII)
_TIMESTAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_EPOCH: Final = datetime(1970, 1, 1)
_MIN_SECONDS: Final = -62135596800
_MAX_SECONDS: Final = 253402300799
_OVERFLOW: Final = "timestamp overflow"


def parse_duration(text: str) -> Duration:
    """Parse a duration in Go's notation. Raises `CelError`."""
    failed = CelError("type conversion error from 'string' to 'google.protobuf.Duration'")
    body = text[1:] if text[:1] in ("-", "+") else text
    negative = text[:1] == "-"
    if body == "0":
        return Duration(0)
    if not body or len(body) > 1000:
        raise failed
    total = at = 0
    while at < len(body):
        match = _DURATION.match(body, at)
        if not match or not (match[1] or match[2]) or match[3] not in _UNITS:
            raise failed
        unit = _UNITS[match[3]]
        total += int(match[1] or 0) * unit
        fraction = (match[2] or "")[:18]
        total += int(fraction or 0) * unit // 10 ** len(fraction)
        if total > INT_MAX + negative:
            raise failed
        at = match.end()
    return Duration(-total if negative else total)


def duration_of_int(_: int) -> Duration:
    """Fail, as this conversion always does although it's declared."""
    raise CelError("type conversion error from 'int' to 'google.protobuf.Duration'")


def seconds(duration: Duration) -> float:
    """Return the seconds of a duration as a double."""
    whole, rest = divmod(abs(duration.nanos), _NANOS)
    number = float(whole) + float(rest) / 1e9
    return -number if duration.nanos < 0 else number


def parse_timestamp(text: str) -> Timestamp:
    """Parse an RFC 3339 timestamp. Raises `CelError`."""
    failed = CelError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        raise failed
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    fraction = (match[7] or "")[:9]
    offset = 0
    if match[8]:
        hours, minutes = int(match[9]), int(match[10])
        if hours > 24 or minutes > 60:
            raise failed
        offset = (hours * 60 + minutes) * (-60 if match[8] == "-" else 60)
    if hour > 23 or minute > 59 or second > 59:
        raise failed
    if year == 0:
        raise CelError(_OVERFLOW) if 1 <= month <= 12 and 1 <= day <= 29 else failed
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        raise failed from None
    since = int((moment - _EPOCH).total_seconds()) - offset
    return _checked(since * _NANOS + int(fraction.ljust(9, "0")), offset)


def _checked(nanos: int, offset: int) -> Timestamp:
    if not _MIN_SECONDS <= nanos // _NANOS <= _MAX_SECONDS:
        raise CelError(_OVERFLOW)
    return Timestamp(nanos, offset)


def timestamp_of_seconds(number: int) -> Timestamp:
    """Return the timestamp at this number of seconds after 1970. Raises `CelError`."""
    return _checked(number * _NANOS, 0)


def timestamp_text(moment: Timestamp) -> str:
    """Return the RFC 3339 text, with the fewest digits of the fraction."""
    local = _EPOCH + timedelta(seconds=moment.nanos // _NANOS + moment.offset)
    fraction = f"{moment.nanos % _NANOS:09d}".rstrip("0")
    text = local.isoformat(timespec="seconds") + (f".{fraction}" if fraction else "")
    if moment.offset == 0:
        return text + "Z"
    hours, minutes = divmod(abs(moment.offset) // 60, 60)
    return f"{text}{'-' if moment.offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def _zone(name: str) -> tzinfo:
    if ":" in name:
        return _fixed_zone(name)
    if name in ("", "UTC", "Local"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CelError(f"unknown time zone {name}") from None


def _fixed_zone(name: str) -> tzinfo:
    hours_text, minutes_text = name.split(":", 1)
    numbers = []
    for text in (hours_text, minutes_text):
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text, re.ASCII):
            raise CelError(f'strconv.Atoi: parsing "{text}": invalid syntax')
        numbers.append(int(text))
    hours, minutes = numbers
    offset = hours * 60 - minutes if name[0] == "-" else hours * 60 + minutes
    try:
        return timezone(timedelta(minutes=offset))
    except (ValueError, OverflowError):
        raise CelError(f"time zone offset out of range: {name}") from None


def _local(moment: Timestamp, zone: str | None) -> datetime:
    utc = _EPOCH.replace(tzinfo=UTC) + timedelta(seconds=moment.nanos // _NANOS)
    try:
        return utc if zone is None else utc.astimezone(_zone(zone))
    except OverflowError:
        raise CelError(_OVERFLOW) from None


def _part(read: Callable[[datetime], int]) -> Callable[..., int]:
    return lambda moment, zone=None: read(_local(moment, zone))


def _milliseconds(moment: Timestamp, zone: str | None = None) -> int:
    _local(moment, zone)
    return moment.nanos % _NANOS // 10**6


_PARTS: Final[dict[str, Callable[..., int]]] = {
    "year": _part(lambda t: t.year),
    "month": _part(lambda t: t.month - 1),
    "day_of_year": _part(lambda t: t.timetuple().tm_yday - 1),
    "day_of_month": _part(lambda t: t.day - 1),
    "day_of_month_1_based": _part(lambda t: t.day),
    "day_of_week": _part(lambda t: t.isoweekday() % 7),
    "hours": _part(lambda t: t.hour),
    "minutes": _part(lambda t: t.minute),
    "seconds": _part(lambda t: t.second),
    "milliseconds": _milliseconds,
}


def _towards_zero(nanos: int, unit: int) -> int:
    return -(-nanos // unit) if nanos < 0 else nanos // unit


def _within(unit: int) -> Callable[[Duration], int]:
    return lambda duration: _towards_zero(duration.nanos, unit)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f"timestamp_to_{name}": part for name, part in _PARTS.items()},
    **{f"timestamp_to_{name}_with_tz": part for name, part in _PARTS.items()},
    "duration_to_hours": _within(3600 * _NANOS),
    "duration_to_minutes": _within(60 * _NANOS),
    "duration_to_seconds": _within(_NANOS),
    "duration_to_milliseconds": _within(10**6),
}
