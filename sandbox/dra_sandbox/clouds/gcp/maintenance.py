"""Check that the maintenance windows of a cluster leave GKE enough time, by iterating over the days
of a recurring window.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from dra_sandbox.clouds.wire_values import Values

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
SPAN, WANTED, PIECE = timedelta(days=32), timedelta(hours=48), timedelta(hours=4)
LOOKED_AT = 400  # days


def leaves_time(inputs: Values) -> str | None:
    """Reject a recurring window that leaves GKE too little time.

    Recurrence rules with parts other than those below are accepted. Source:
    docs.cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions. The
    message is the response of `clusters.create` to a weekly window of four hours.
    """
    window = (inputs.get("maintenancePolicy") or {}).get("recurringWindow") or {}
    try:
        begin, end = (datetime.fromisoformat(window[key]) for key in ("startTime", "endTime"))
        rule = dict(part.split("=") for part in window["recurrence"].split(";"))
    except (KeyError, ValueError):
        return None
    days, numbers = (
        [each for each in rule.get(key, "").split(",") if each] for key in ("BYDAY", "BYMONTHDAY")
    )
    is_plain = all(day in DAYS for day in days) and all(
        each.isdigit() for each in (*numbers, rule.get("INTERVAL", "1"))
    )
    if (
        rule.keys() - {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY"}
        or not is_plain
        or rule.get("INTERVAL") == "0"
    ):
        return None
    pieces = [(at, at + (end - begin)) for at in _begins(begin, rule)]
    for start in [
        begin,
        *(ends for _, ends in pieces if ends < begin + timedelta(days=LOOKED_AT) - SPAN),
    ]:
        parts = [
            min(b, start + SPAN) - max(a, start)
            for a, b in pieces
            if b > start and a < start + SPAN
        ]
        if sum((part for part in parts if part >= PIECE), timedelta()) < WANTED:
            return (
                "maintenance policy would go longer than 32d without 48h maintenance availability "
                "of >=4h contiguous "
                f"duration (in range [{start.isoformat()}, {(start + SPAN).isoformat()}])"
            )
    return None


def _begins(begin: datetime, rule: dict[str, str]) -> Iterator[datetime]:
    first = begin.date()
    for number in range(LOOKED_AT):
        day = first + timedelta(days=number)
        if _comes(day, first, rule):
            yield begin + timedelta(days=number)


def _comes(day: date, first: date, rule: dict[str, str]) -> bool:
    days = [each for each in rule.get("BYDAY", "").split(",") if each]
    numbers = [int(each) for each in rule.get("BYMONTHDAY", "").split(",") if each]
    every = int(rule.get("INTERVAL", "1"))
    monday = first - timedelta(days=first.weekday())
    if (days and DAYS[day.weekday()] not in days) or (numbers and day.day not in numbers):
        return False
    return {
        "DAILY": (day - first).days % every == 0,
        "WEEKLY": (day - monday).days // 7 % every == 0
        and (bool(days) or day.weekday() == first.weekday()),
        "MONTHLY": (day.month - first.month + 12 * (day.year - first.year)) % every == 0
        and (bool(days or numbers) or day.day == first.day),
        "YEARLY": (day.month, day.day) == (first.month, first.day),
    }.get(rule["FREQ"], True)
