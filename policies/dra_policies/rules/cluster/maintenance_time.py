"""Maintenance windows and exclusions that leave less time than the cloud requires."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from dra_planner.clouds import MaintenanceLimits, cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredResource, StackView

_DAYS: Final = {"DAILY": 1, "WEEKLY": 7}
_RULE: Final = re.compile(r"(RRULE:)?(?P<parts>[A-Z]+=[A-Z,]+(;[A-Z]+=[A-Z,]+)*);?")
_HOUR: Final = timedelta(hours=1)


def too_little_maintenance(view: StackView) -> Iterator[Finding]:
    """Yield clusters whose windows are certainly too short, or whose exclusions are too long."""
    for name in names():
        paths = cloud(name).cluster
        limits = paths.maintenance
        for cluster in view.declared if limits is not None else ():
            if limits is not None and cluster.type == paths.token:
                yield from _short_window(cluster, limits, cloud(name).title)
                yield from _long_exclusions(cluster, limits, cloud(name).title)


def _short_window(
    cluster: DeclaredResource, limits: MaintenanceLimits, title: str
) -> Iterator[Finding]:
    hours = _hours(cluster.props.below(limits.window), limits)
    if hours is not None and hours < limits.hours:
        yield Finding(
            message=f'cluster "{cluster.name}": {title} requires at least {limits.hours} hours '
            f"of maintenance time in {limits.days} days, but the maintenance window provides "
            f"{hours:g} hours (only blocks of {limits.block} hours or more count)",
            fix=f"add days to {limits.window}.recurrence, or set a later endTime",
            urn=cluster.urn,
        )


def _hours(window: Properties, limits: MaintenanceLimits) -> float | None:
    """Return the most hours for which a window can be open, regardless of the calendar. None if
    it's unknown, or the window recurs in another way.
    """
    lasts = _length(window)
    found = _RULE.fullmatch(window.text("recurrence") or "")
    if lasts is None or found is None:
        return None
    parts = dict(each.split("=") for each in found["parts"].split(";"))
    period = _DAYS.get(parts.pop("FREQ", ""))
    weekdays = parts.pop("BYDAY", "")
    if period is None or parts:
        return None
    if lasts < limits.block * _HOUR:
        return 0
    per_week = len(weekdays.split(",")) if weekdays else 7 // period
    return lasts / _HOUR * per_week * -(-limits.days // 7)


def _long_exclusions(
    cluster: DeclaredResource, limits: MaintenanceLimits, title: str
) -> Iterator[Finding]:
    for exclusion in cluster.props.items(limits.exclusions) or ():
        lasts = _length(exclusion)
        scope = exclusion.text(limits.scope, next(iter(limits.longest)))
        most = limits.longest.get(scope or "")
        if lasts is not None and most is not None and lasts > timedelta(days=most):
            yield Finding(
                message=f'cluster "{cluster.name}": maintenance exclusion '
                f'"{exclusion.text("exclusionName")}" lasts {lasts.days} days, but {title} allows '
                f"at most {most} days with the scope {scope}",
                fix=f"set an endTime at most {most} days after startTime, or set another scope",
                urn=cluster.urn,
            )


def _length(period: Properties) -> timedelta | None:
    """Return the time between the start and the end of a period, or None if it's unknown."""
    start, end = period.text("startTime"), period.text("endTime")
    try:
        return datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")
    except (ValueError, TypeError):
        return None
