"""What the plans of a step say: pending pods, reasons, and the price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from dra_planner.migration.steps.states import shown_name
from dra_planner.plan import Plan


def most_pending(plans: Iterable[Plan]) -> int | None:
    """Return the largest number of pending pods of any plan; None if one of them can't tell."""
    worst = 0
    for plan in plans:
        pending = sum(each.pending for each in plan.workloads)
        if plan.verdict == "cannot-tell" or (plan.verdict != "fits" and not pending):
            return None
        worst = max(worst, pending)
    return worst


def reasons_of(plans: Iterable[Plan]) -> tuple[str, ...]:
    """Return why plans leave pods pending, each reason once, in order."""
    found: dict[str, None] = {}
    for plan in plans:
        for workload in plan.workloads:
            for reason in workload.reasons:
                found.setdefault(f"{shown_name(workload.workload)}: {reason.message}")
        if plan.verdict != "fits":
            found |= {each.message: None for each in plan.findings if each.severity == "error"}
    return tuple(found)


def hourly_price(plan: Plan, counts: Mapping[str, int]) -> Decimal | None:
    """Return the price per hour of so many nodes; None if one is unknown."""
    prices = {offer.name: offer.hourly_usd for offer in plan.offers}
    used = {name: count for name, count in counts.items() if count}
    if any(prices.get(name) is None for name in used):
        return None
    return sum((count * (prices[name] or Decimal(0)) for name, count in used.items()), Decimal(0))
