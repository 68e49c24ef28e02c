"""A pool that can cost more per month than the project allows for one pool."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dra_planner.catalog import HOURS_PER_MONTH
from dra_policies.rules.cost.cost_above_ceiling import ceiling, monthly
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    allowed = view.thresholds.get(RULE.id, 0)
    urns = {pool.offer_name: pool.urn for pool in view.pools}
    for offer in view.judgement.offers if allowed and view.judgement else ():
        cost = monthly(offer) if offer.origin == "predicted" else None
        if cost is None or offer.hourly_usd is None or cost <= Decimal(str(allowed)):
            continue
        most = int(Decimal(str(allowed)) / (offer.hourly_usd * HOURS_PER_MONTH))
        yield Finding(
            message=f'pool "{offer.name}" costs ${cost:,.0f} per month at its maximum of '
            f"{offer.count_max}, but the limit for one pool is ${allowed:,.0f}",
            fix=f"lower its maximum to {most}, or raise the threshold of {RULE.id}",
            urn=urns.get(offer.name) or view.judged_urn,
        )


RULE = Rule(
    id="pool-cost-above-ceiling",
    description="At maximum size, a pool costs more per month than the limit for one pool.",
    why="Autoscalers can scale pools to their maximum.",
    fix="Lower the pool's maximum, or raise the limit.",
    level="mandatory",
    needs="pools",
    threshold=ceiling("each pool"),
    check=check,
)
