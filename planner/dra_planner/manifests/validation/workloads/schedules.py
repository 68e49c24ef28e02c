"""Schedules of CronJobs, parsed as in the API server.

Source: robfig/cron:parser.go@v3.0.1 (ParseStandard) and
kubernetes/kubernetes:pkg/apis/batch/validation@v1.36.3. The messages were compared with
kube-apiserver 1.36.3 and 1.37.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_DESCRIPTORS: Final = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_EVERY: Final = "@every "
_DURATION: Final = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_NUMBER_AND_UNIT: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)([^\d.]*)")


class _Field(Struct, frozen=True):
    """One of the five fields of a schedule, with its minimum, its maximum, and the names of its
    values.
    """

    least: int
    greatest: int
    names: tuple[str, ...] = ()
    first: int = 0  # the value for which the first name stands


_FIELDS: Final = (
    _Field(0, 59),
    _Field(0, 23),
    _Field(1, 31),
    _Field(
        1,
        12,
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
        1,
    ),
    _Field(0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


class _Invalid(Exception):
    """An invalid schedule. The message is the server's."""


def schedule_fault(schedule: str) -> str:
    """Return why the API server rejects a schedule, or "" if it accepts it."""
    if "TZ" in schedule:
        return "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
    try:
        if schedule.startswith("@"):
            _check_descriptor(schedule)
        else:
            _check_fields(schedule.split())
    except _Invalid as invalid:
        return str(invalid)
    return ""


def _check_descriptor(text: str) -> None:
    if text in _DESCRIPTORS:
        return
    if not text.startswith(_EVERY):
        raise _Invalid(f"unrecognized descriptor: {text}")
    duration = text.removeprefix(_EVERY)
    if not _DURATION.fullmatch(duration):
        raise _Invalid(f"failed to parse duration {text}: {_duration_fault(duration)}")


def _duration_fault(text: str) -> str:
    unit = _NUMBER_AND_UNIT.match(text)
    if unit is None:
        return f'time: invalid duration "{text}"'
    if not unit[1]:
        return f'time: missing unit in duration "{text}"'
    return f'time: unknown unit "{unit[1]}" in duration "{text}"'


def _check_fields(texts: list[str]) -> None:
    if len(texts) != len(_FIELDS):
        raise _Invalid(
            f"expected exactly {len(_FIELDS)} fields, found {len(texts)}: [{' '.join(texts)}]"
        )
    for text, each in zip(texts, _FIELDS, strict=True):
        for part in filter(None, text.split(",")):
            _check_range(part, each)


def _check_range(text: str, within: _Field) -> None:
    bounds, *steps = text.split("/")
    low, *rest = bounds.split("-")
    if low in ("*", "?"):
        start, end = within.least, within.greatest
    else:
        if len(rest) > 1:
            raise _Invalid(f"too many hyphens: {text}")
        start = _number_or_name(low, within)
        end = _number_or_name(rest[0], within) if rest else start
    if len(steps) > 1:
        raise _Invalid(f"too many slashes: {text}")
    step = _number(steps[0]) if steps else 1
    if steps and not rest:
        end = within.greatest
    if start < within.least:
        raise _Invalid(f"beginning of range ({start}) below minimum ({within.least}): {text}")
    if end > within.greatest:
        raise _Invalid(f"end of range ({end}) above maximum ({within.greatest}): {text}")
    if start > end:
        raise _Invalid(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise _Invalid(f"step of range should be a positive number: {text}")


def _number_or_name(text: str, within: _Field) -> int:
    lowered = text.lower()
    return within.names.index(lowered) + within.first if lowered in within.names else _number(text)


def _number(text: str) -> int:
    if not re.fullmatch(r"[-+]?\d+", text, re.ASCII):
        raise _Invalid(
            f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax'
        )
    value = int(text)
    if value < 0:
        raise _Invalid(f"negative number ({value}) not allowed: {text}")
    return value
