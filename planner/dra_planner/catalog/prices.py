"""List prices by region, each with its date."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from dra_planner.catalog.machines import Machine
from dra_planner.catalog.tables import Row, read_table

HOURS_PER_MONTH: Final = 730
"""Hours per month, as in the clouds' own price lists."""
Purchase = Literal["on-demand", "spot"]


class Price(Struct, frozen=True, kw_only=True):
    """US dollars per node-hour.

    `as_of` is "" if the source doesn't contain a date. A Spot price can be a range over the
    region's zones. In this case, `usd_per_hour_max` is the upper end of the range.
    """

    usd_per_hour: Decimal
    usd_per_hour_max: Decimal
    as_of: str
    source: str


def price(machine: Machine, region: str, purchase: Purchase = "on-demand") -> Price | None:
    """Return the price of a machine type in a region, or None if no table contains it."""
    base = _listed(machine.cloud, machine.instance_type, region, purchase)
    if base is None or machine.name == machine.instance_type or machine.accelerator is None:
        return base
    attached = _listed(machine.cloud, machine.accelerator.gke_type or "", region, purchase)
    if attached is None:
        return None
    count = machine.accelerator.count or 0
    return Price(
        usd_per_hour=base.usd_per_hour + count * attached.usd_per_hour,
        usd_per_hour_max=base.usd_per_hour_max + count * attached.usd_per_hour_max,
        as_of=attached.as_of and min(base.as_of, attached.as_of),
        source=f"{base.source} {attached.source}",
    )


def priced_regions(machines: Iterable[Machine]) -> tuple[str, ...]:
    """Return the regions with the on-demand price of any of these machine types, sorted."""
    regions = {(cloud, region) for cloud, _, region, kind in _prices() if kind == "on-demand"}
    return tuple(
        sorted(
            {
                region
                for machine in machines
                if machine.gpu_count
                for cloud, region in regions
                if cloud == machine.cloud and price(machine, region) is not None
            }
        )
    )


@cache
def _listed(cloud: str, name: str, region: str, purchase: Purchase) -> Price | None:
    row = _prices().get((cloud, name, region, purchase))
    if row is None:
        return None
    low = Decimal(row["usd_per_hour"])
    high = Decimal(row["usd_per_hour_max"]) if row["usd_per_hour_max"] else low
    return Price(usd_per_hour=low, usd_per_hour_max=high, as_of=row["as_of"], source=row["source"])


class SpotHistory(Struct, frozen=True, kw_only=True):
    """The cloud's data about Spot nodes on a date: savings compared with on-demand, and the monthly
    reclaim rate.
    """

    savings_percent: int
    interruption: str  # a band: "<5%", "5-10%", …
    as_of: str
    source: str


def spot_history(machine: Machine, region: str) -> SpotHistory | None:
    """Return how often Spot nodes of a machine type were interrupted in a region.

    Returns None if no table contains this (older) data.
    """
    for row in read_table("spot_advisor"):
        if (row["cloud"], row["machine"], row["region"]) == (
            machine.cloud,
            machine.instance_type,
            region,
        ):
            return SpotHistory(
                savings_percent=int(row["savings_percent"]),
                interruption=row["interruption"],
                as_of=row["as_of"],
                source=row["source"],
            )
    return None


@cache
def _prices() -> dict[tuple[str, str, str, str], Row]:
    return {
        (row["cloud"], row["machine"], row["region"], row["capacity"]): row
        for row in read_table("prices")
    }
