"""GKE maintenance windows and exclusions. In a separate module, because a platform for EKS also has
these types.
"""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
import re
from datetime import datetime, timedelta
from typing import NotRequired, TypedDict

from pulumi_dra.inputs.reader import InputReader

EXCLUSION_SCOPES = ("NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES")
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"
_DAYS = 32
_HOURS_IN_THEM, _HOURS_AT_ONCE = 48, 4
_SHORTEST_MONTH = 28


class MaintenanceExclusion(TypedDict):
    """A period in which GKE skips some or all upgrades."""

    name: str
    """Name of the exclusion. The name must be unique in the cluster."""
    start_time: str
    """Start time, for example 2026-11-20T00:00:00Z."""
    end_time: NotRequired[str]
    """End time, for example 2026-12-04T00:00:00Z. GKE limits the duration of each scope."""
    until_end_of_support: NotRequired[bool]
    """End the exclusion when support for the cluster's minor version ends, instead of at end_time.
    Not supported with NO_UPGRADES.
    """
    scope: NotRequired[str]
    """Excluded upgrades: NO_MINOR_OR_NODE_UPGRADES (default), NO_MINOR_UPGRADES, or NO_UPGRADES."""


class MaintenanceWindow(TypedDict):
    """Recurring maintenance window of a GKE cluster."""

    start_time: str
    """Start of the first window, for example 2026-11-21T00:00:00Z."""
    end_time: str
    """End of the first window, for example 2026-11-22T00:00:00Z. All windows have the same
    duration, which must be at least four hours.
    """
    recurrence: str
    """Recurrence rule in the format of RFC 5545: FREQ=WEEKLY;BYDAY=SA,SU. The windows must total at
    least 48 hours in 32 days.
    """


def read_exclusions(read: InputReader) -> list[MaintenanceExclusion]:
    """Return `maintenance_exclusions` with their scopes filled in."""
    exclusions: list[MaintenanceExclusion] = []
    for index, block in enumerate(read.blocks("maintenance_exclusions")):
        inner = read.inside(f"maintenance_exclusions[{index}]", block, MaintenanceExclusion)
        scope = inner.choice("scope", EXCLUSION_SCOPES, "NO_MINOR_OR_NODE_UPGRADES")
        exclusion = MaintenanceExclusion(
            name=inner.text("name"),
            start_time=inner.text(
                "start_time", pattern=_TIME, meaning="a time (2026-11-20T00:00:00Z)"
            ),
            scope=scope,
        )
        if not inner.flag("until_end_of_support", False):
            exclusion["end_time"] = inner.text(
                "end_time", pattern=_TIME, meaning="a time (2026-12-04T00:00:00Z)"
            )
        else:
            exclusion["until_end_of_support"] = True
            if inner.has("end_time"):
                inner.refuse("end_time", "can't be combined with until_end_of_support")
            if scope == "NO_UPGRADES":
                inner.refuse(
                    "scope",
                    "NO_UPGRADES ends after at most 30 days; set end_time, or use another scope",
                )
        if any(exclusion["name"] == other["name"] for other in exclusions):
            inner.refuse("name", f'"{exclusion["name"]}" appears twice')
        exclusions.append(exclusion)
    return exclusions


def read_window(read: InputReader) -> MaintenanceWindow | None:
    """Return `maintenance_window`, or None if it's unset. Errors are recorded in `read`.

    docs.cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions: 48
    hours in any 32 days, in pieces of four hours or more.
    """
    block = read.block("maintenance_window")
    if not block:
        return None
    inner = read.inside("maintenance_window", block, MaintenanceWindow)
    if read.has("maintenance_start"):
        inner.refuse("start_time", "can't be combined with maintenance_start; set only one of them")
    start = inner.text("start_time", pattern=_TIME, meaning="a time (2026-11-21T00:00:00Z)")
    end = inner.text("end_time", pattern=_TIME, meaning="a time (2026-11-22T00:00:00Z)")
    rule = inner.text(
        "recurrence",
        pattern=r"FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(;[A-Z]+=[-+A-Z0-9,]+)*",
        meaning="a daily, weekly, monthly, or yearly RFC 5545 rule, such as "
        "FREQ=WEEKLY;BYDAY=SA,SU",
    )
    length = _length(start, end)
    if length is not None and length < timedelta(hours=_HOURS_AT_ONCE):
        inner.refuse("end_time", f"must be at least {_HOURS_AT_ONCE} hours after start_time")
    elif length is not None and (times := _times(rule, start)) is not None:
        hours = round(times * length / timedelta(hours=1))
        if hours < _HOURS_IN_THEM:
            inner.refuse(
                "recurrence",
                f"allows {hours} hours in {_DAYS} days, but GKE requires {_HOURS_IN_THEM}",
            )
    return MaintenanceWindow(start_time=start, end_time=end, recurrence=rule)


def _length(start: str, end: str) -> timedelta | None:
    try:
        return datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except (TypeError, ValueError):
        return None


def _times(rule: str, start: str) -> int | None:
    """Return the minimum number of times that a rule recurs in 32 days, or None for a
    complex rule.
    """
    parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
    days, numbers = (
        len(parts[key].split(",")) if key in parts else 0 for key in ("BYDAY", "BYMONTHDAY")
    )
    each = parts.get("INTERVAL", "1")
    plain_days = all(re.fullmatch("[A-Z]{2}", day) for day in parts.get("BYDAY", "MO").split(","))
    if parts.keys() - {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY"} or not re.fullmatch(
        "[1-9][0-9]*", each
    ):
        return None
    match parts.get("FREQ"), int(each):
        case "DAILY", 1 if plain_days and not numbers:
            return _DAYS // 7 * days if days else _DAYS
        case "DAILY", every if not days and not numbers:
            return _DAYS // every
        case "WEEKLY", every if plain_days and not numbers:
            return _DAYS // (7 * every) * (days or 1)
        case "MONTHLY", every if not days:
            # If a month doesn't have this day, the next occurrence is more than 32 days later.
            given = re.findall(r"\d+", parts.get("BYMONTHDAY", start[8:10]))
            return 0 if every > 1 else sum(int(number) <= _SHORTEST_MONTH for number in given)
        case "YEARLY", _ if not days and not numbers:
            return 0
        case _:
            return None
