"""Support calendar: how long each cloud supports a Kubernetes version, and the extra price
afterwards.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from functools import cache

from msgspec import Struct

from dra_planner.catalog.dates import day
from dra_planner.catalog.tables import Row, read_table

SETTLED = timedelta(days=90)
"""A version that a cloud has offered for this long counts as settled."""
NOTICE = timedelta(days=90)
"""The end of support is reported this long in advance."""


class Support(Struct, frozen=True, kw_only=True):
    """Support of one Kubernetes minor version on one cloud.

    None means that no source contains the date.
    """

    cloud: str
    minor: int  # 35 for Kubernetes 1.35
    released: date | None
    standard_until: date
    extended_until: date | None
    # USD per cluster-hour, in addition to the price of standard support
    extended_usd_per_hour: Decimal | None
    seen_on: date
    source: str

    def ends_soon(self, today: date) -> bool:
        """Return True if standard support ends within `NOTICE`, or has ended."""
        return self.standard_until <= today + NOTICE

    def expires_soon(self, today: date) -> bool:
        """Return True if extended support ends within `NOTICE`, or has ended."""
        return self.extended_until is not None and self.extended_until <= today + NOTICE

    def sentence(self, today: date) -> str:
        """Return the consequence at the end of standard support, or "" while it's far in the
        future.
        """
        if not self.ends_soon(today):
            return ""
        ended = self.standard_until < today
        version = f"Kubernetes 1.{self.minor}"
        end = (
            f"Standard support for {version} {'ended' if ended else 'ends'} on "
            f"{self.standard_until}"
        )
        if self.extended_until is not None and self.extended_until < today:
            return f"{end}, and extended support on {self.extended_until}."
        parts = [f"{end}."]
        if self.extended_usd_per_hour is not None:
            until = f" until {self.extended_until}" if self.extended_until else ""
            parts.append(
                f"Extended support{until} costs an additional USD "
                f"{self.extended_usd_per_hour} per cluster per hour."
            )
        return " ".join(parts)


@cache
def supported(cloud: str) -> tuple[Support, ...]:
    """Return the support calendar of a cloud, starting with the oldest version.

    The result is empty if the cloud's calendar is unknown.
    """
    rows = [_support(row) for row in read_table("kubernetes_support") if row["cloud"] == cloud]
    return tuple(sorted(rows, key=lambda each: each.minor))


def support(cloud: str, minor: int) -> Support | None:
    """Return the support for a minor version, or None if the calendar doesn't list it."""
    return next((each for each in supported(cloud) if each.minor == minor), None)


def settled_minor(cloud: str, today: date) -> int | None:
    """Return the newest settled minor version that is still in standard support."""
    settled = [
        each.minor
        for each in supported(cloud)
        if each.released is not None and each.released + SETTLED <= today <= each.standard_until
    ]
    return max(settled, default=None)


def _support(row: Row) -> Support:
    standard, seen = day(row, "standard_until"), day(row, "seen_on")
    assert standard is not None, row
    assert seen is not None, row
    price = row["extended_usd_per_hour"]
    return Support(
        cloud=row["cloud"],
        minor=int(row["minor"]),
        released=day(row, "released"),
        standard_until=standard,
        extended_until=day(row, "extended_until"),
        extended_usd_per_hour=Decimal(price) if price else None,
        seen_on=seen,
        source=row["source"],
    )
