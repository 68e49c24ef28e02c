"""The cost of a plan's nodes and the use of shared limits in sentences, for all formats."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Final

from dra_command.pens.amounts import usd
from dra_planner.plan import Plan
from dra_planner.plan.judgement.lost_nodes import lost
from dra_planner.plan.model import LimitUse
from dra_planner.wording import counted, named, verb

_MOST_POOLS: Final = 4


def costs(plan: Plan) -> tuple[str, ...]:
    """Return the cost of the planned nodes with the date of the prices (or that the cost is
    unknown), and the shared limits.
    """
    return (*_costs(plan), *_spares(plan), *map(_limit, plan.limits))


def _spares(plan: Plan) -> tuple[str, ...]:
    """Return the number of spare nodes for node failures, and the setting that requires them."""
    survival = plan.judgement.survival
    if survival is None or plan.running != "fits":
        return ()
    spare = sum(survival.spare.values())
    tried = (
        f"{counted(survival.tried, 'case')} simulated"
        if survival.tried
        else "by the packing; not simulated"
    )
    nodes = (
        "None of these nodes is spare. If"
        if not spare
        else f"{spare} of these nodes {verb(spare, 'are')} spare. If"
    )
    return (f"{nodes} {lost(survival.redundancy)}, every pod can be placed again ({tried})",)


def _limit(use: LimitUse) -> str:
    limit = use.limit
    users = f"{_listed(limit.takes)}{' and the system pool' if limit.beside else ''}"
    return (
        f"{limit.name}: {use.used + limit.beside} of "
        f"{counted(limit.most + limit.beside, limit.unit)} used by {users}"
    )


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    if len(known) > _MOST_POOLS:
        return f"{', '.join(known[:_MOST_POOLS])} and {len(known) - _MOST_POOLS} more pools"
    return named("pool", known)


def _costs(plan: Plan) -> tuple[str, ...]:
    if plan.fleet is None:
        return ()
    if plan.judgement.is_observed:
        return _growth_costs(plan)
    nodes = sum(pool.nodes.desired for pool in plan.pools)
    if not nodes:
        return ()
    sentence = counted(nodes, "GPU node")
    if plan.running == "fits" and plan.nodes_bound == nodes:
        sentence += " (provably the fewest)"
    if plan.cost is None:
        if plan.running == "fits" and plan.nodes_bound < nodes:
            fewest = counted(plan.nodes_bound, "node")
            sentence += f" ({_compared_by(plan)}; every plan needs at least {fewest})"
        missing = ", ".join(
            pool.name for pool in plan.pools if pool.recommended and pool.hourly_usd is None
        )
        return (
            f"{sentence}; cost unknown, because {missing or 'a pool'} doesn't have a price (set "
            "pricePerHour)",
        )
    when = _price_source(plan)
    least = ""
    open_prices = [pool.name for pool in plan.pools if pool.hourly_usd is None]
    if plan.running == "fits" and open_prices:
        least = (
            "; it's unknown whether another plan costs less, because the price of "
            f"{_listed(open_prices)} is unknown"
        )
    elif plan.running == "fits":
        bound, gap = plan.cost.bound_usd, plan.cost.gap
        least = (
            f"; no plan costs less than {usd(bound)} (gap {gap:.2%}{_looser()})"
            if gap
            else "; no plan costs less"
        )
    return (f"{sentence}, {usd(plan.cost.hourly_usd)} per hour{when}{least}",)


def _compared_by(plan: Plan) -> str:
    """Return the value that the plan minimizes if the price of a used pool is unknown."""
    if all(pool.hourly_usd is None for pool in plan.pools):
        return "fewest devices first, without prices"
    return "pools without a price count as the most expensive"


def _price_source(plan: Plan) -> str:
    """Return the origin of the prices as the end of a sentence; "" if nothing has a price."""
    if plan.cost is not None and plan.cost.priced_on:
        return f", prices as of {plan.cost.priced_on}"
    pools = plan.fleet.pools if plan.fleet is not None else []
    return ", prices from the fleet" if any(p.price_per_hour is not None for p in pools) else ""


def _looser() -> str:
    """Return why the proven minimum might be too low, or "" if the solver is installed."""
    return (
        "" if find_spec("highspy") else (" without the `solver` extra, which gives tighter bounds")
    )


def _growth_costs(plan: Plan) -> tuple[str, ...]:
    more = sum(pool.nodes.desired - (pool.existing or 0) for pool in plan.pools)
    if not more:
        return ("No additional nodes are needed.",) if plan.running == "fits" else ()
    if plan.cost is None:
        return (
            (
                f"{counted(more, 'additional node')}; cost unknown, because a pool doesn't have a "
                "price (set pricePerHour)"
            ),
        )
    when = _price_source(plan)
    return (
        (f"{counted(more, 'additional node')}, {usd(plan.cost.hourly_usd)} per hour more{when}"),
    )
