"""Pools that together can cost more per month than the project allows."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dra_planner.catalog import HOURS_PER_MONTH
from dra_planner.offers import Offer
from dra_policies.rules.record.fleet_change import FLEET
from dra_policies.rules.rule import Finding, Rule, Threshold
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    allowed = view.thresholds.get(RULE.id, 0)
    if not allowed or view.judgement is None:
        return
    offers = [offer for offer in view.judgement.offers if offer.origin == "predicted"]
    known = [(cost, offer) for offer in offers if (cost := monthly(offer)) is not None]
    total = sum((cost for cost, _ in known), Decimal(0))
    if total > Decimal(str(allowed)):
        most = max(known, key=lambda each: each[0])[1]
        yield Finding(
            message=f"the pools cost ${total:,.0f} per month at maximum size, but the limit "
            f'is ${allowed:,.0f}. Pool "{most.name}" costs the most',
            fix=f'lower the maximum of pool "{most.name}", or raise the threshold of {RULE.id}',
            urn=view.judged_urn,
        )
    elif len(known) < len(offers):
        names = ", ".join(f'"{offer.name}"' for offer in offers if monthly(offer) is None)
        yield Finding(
            message=f"the cost limit of ${allowed:,.0f} per month can't be checked, because the "
            f"price is unknown for these pools: {names}",
            fix=f"set pricePerHour for these pools in {FLEET}",
            urn=view.judged_urn,
            certain=False,
        )


def monthly(offer: Offer) -> Decimal | None:
    """Return a pool's monthly cost at maximum size in US dollars, or None if its price is
    unknown.
    """
    if offer.count_max == 0:
        return Decimal(0)
    return (
        None if offer.hourly_usd is None else offer.hourly_usd * offer.count_max * HOURS_PER_MONTH
    )


def ceiling(of_what: str) -> Threshold:
    """Return the threshold for a maximum cost in US dollars per month. Default: 0, for no limit."""
    description = (
        f"Maximum cost of {of_what}, in US dollars per month at maximum size. 0: no limit."
    )
    return Threshold(description=description, default=0, least=0, most=1_000_000_000)


RULE = Rule(
    id="cost-above-ceiling",
    description="At maximum size, all pools together cost more per month than the limit.",
    why="Autoscalers can scale pools to their maximum.",
    fix="Lower a pool's maximum, or raise the limit.",
    level="mandatory",
    needs="pools",
    threshold=ceiling("all pools combined"),
    check=check,
)
