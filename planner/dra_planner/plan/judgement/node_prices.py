"""The price per hour of so many nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from dra_planner.offers import Offer


def hourly_usd(counts: Mapping[str, int], offers: Iterable[Offer]) -> Decimal | None:
    """Return the price per hour of so many nodes; None if a price is unknown."""
    total = Decimal(0)
    for offer in offers:
        nodes = counts.get(offer.name, 0)
        if nodes and offer.hourly_usd is None:
            return None
        total += nodes * (offer.hourly_usd or Decimal(0))
    return total
