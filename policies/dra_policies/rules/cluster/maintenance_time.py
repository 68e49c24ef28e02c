"""Maintenance windows that are open for less time than the cloud requires."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import DeclaredResource, StackView

_DAYS: Final = {"DAILY": 1, "WEEKLY": 7}
_RULE: Final = re.compile(r"(RRULE:)?(?P<parts>[A-Z]+=[A-Z,]+(;[A-Z]+=[A-Z,]+)*);?")
_HOUR: Final = 3600


def short_windows(view: StackView) -> Iterator[Finding]:
    """Yield clusters whose recurring window is open for too few hours, regardless of the
    calendar.
    """
    for name in names():
        paths = cloud(name).cluster
        window, least, days = paths.maintenance
        for cluster in view.declared if window else ():
            if cluster.type != paths.token:
                continue
            hours = _hours(cluster, window, days)
            if hours is not None and hours < least:
                yield Finding(
                    message=f'cluster "{cluster.name}": its maintenance window is open for at most '
                    f"{hours:g} hours in {days} days, but {cloud(name).title} "
                    f"requires {least} hours",
                    fix=f"add days to {window}.recurrence, or set a later endTime",
                    urn=cluster.urn,
                )


def _hours(cluster: DeclaredResource, window: str, days: int) -> float | None:
    """Return the most hours for which the window can be open in a number of days. None if it's
    unknown, or the window recurs in another way.
    """
    start, end, recurrence = (
        cluster.props.text(f"{window}.{each}") for each in ("startTime", "endTime", "recurrence")
    )
    found = _RULE.fullmatch(recurrence or "")
    if not start or not end or found is None:
        return None
    parts = dict(each.split("=") for each in found["parts"].split(";"))
    period = _DAYS.get(parts.pop("FREQ", ""))
    weekdays = parts.pop("BYDAY", "")
    if period is None or parts:
        return None
    try:
        lasts = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except (ValueError, TypeError):
        return None
    per_week = len(weekdays.split(",")) if weekdays else 7 // period
    return lasts.total_seconds() / _HOUR * per_week * -(-days // 7)
