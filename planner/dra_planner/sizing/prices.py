"""Costs of nodes for comparing plans: money if any price is known, otherwise scarce resources
first.

A pool without a price counts with slightly more than the highest known price per device, so plans
use it only if the other pools can't run the pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from dra_planner.offers import Offer

NodeCost = tuple[int, ...]
"""Compared entry by entry: micro-dollars (if known), devices, nodes, CPU, and memory."""


_ABOVE: Final = Decimal("1.01")
"""Price of a pool whose price is unknown, as a multiple of the highest known price. Of two
otherwise equal plans, the plan with a known price is better.
"""


def node_costs(offers: Sequence[Offer]) -> tuple[NodeCost, ...]:
    """Return the cost of one node of each pool."""
    assumed = assumed_usd(offers)
    costs: list[NodeCost] = []
    for offer in offers:
        scarce = (
            _devices(offer),
            1,
            offer.node.allocatable.get("cpu", 0),
            offer.node.allocatable.get("memory", 0),
        )
        price = assumed.get(offer.name, offer.hourly_usd)
        costs.append((_micro_usd(price), *scarce) if is_priced(offers) else scarce)
    return tuple(costs)


def is_priced(offers: Iterable[Offer]) -> bool:
    """Return whether plans compare money, because at least one price is known."""
    return any(offer.hourly_usd is not None for offer in offers)


def assumed_usd(offers: Sequence[Offer]) -> Mapping[str, Decimal]:
    """Return the price per hour that comparisons use for each pool without one. Empty if no price
    is known.
    """
    known = [
        (offer.hourly_usd, _devices(offer)) for offer in offers if offer.hourly_usd is not None
    ]
    if not known:
        return {}
    highest = max(price for price, _ in known)
    by_device = max((price / count for price, count in known if count), default=highest)
    return {
        offer.name: _ABOVE * max(highest, by_device * _devices(offer))
        for offer in offers
        if offer.hourly_usd is None
    }


def _devices(offer: Offer) -> int:
    return sum(len(each.devices) for each in offer.slices) + sum(offer.plugin_units.values())


def total_cost(counts: Iterable[int], costs: Sequence[NodeCost]) -> NodeCost:
    """Return the cost of these nodes of each pool."""
    counted = list(zip(counts, costs, strict=True))
    width = len(costs[0]) if costs else 0
    return tuple(sum(count * cost[entry] for count, cost in counted) for entry in range(width))


def hourly_usd(counts: Mapping[str, int], offers: Iterable[Offer]) -> Decimal | None:
    """Return the price per hour of these nodes of each pool by name, or None if a used pool has no
    price.
    """
    prices = {offer.name: offer.hourly_usd for offer in offers}
    total = Decimal(0)
    for name, count in counts.items():
        price = prices.get(name)
        if count and price is None:
            return None
        total += count * (price or 0)
    return total


def usd(micro: Fraction) -> Decimal:
    """Return micro-dollars as dollars, rounded down to a ten-thousandth."""
    return Decimal(int(micro / 100)) / 10_000


def _micro_usd(price: Decimal | None) -> int:
    return int((price or Decimal(0)) * 1_000_000)
