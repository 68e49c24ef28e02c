"""What a plan changes of the one that is saved: nodes and money per pool, and which workloads that
is because of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from dra_planner.plan.values import Plan
from dra_planner.planfile import PlanFile
from dra_planner.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDifference:
    """Nodes of one pool in both plans. `hourly_usd` is the change at today's price, None where that
    is not known.
    """

    pool: str
    machine: str
    saved: int
    now: int
    hourly_usd: Decimal | None
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDifference:
    """Every pool of both plans, in the order of the fleet; those that are gone last."""

    pools: tuple[PoolDifference, ...]
    verdict_before: str

    @property
    def nodes(self) -> int:
        return sum(pool.now - pool.saved for pool in self.pools)

    @property
    def hourly_usd(self) -> Decimal | None:
        """The change at today's prices; None where one that matters is not known."""
        known = [pool.hourly_usd for pool in self.pools]
        return (
            None if None in known else sum((each for each in known if each is not None), Decimal(0))
        )

    @property
    def is_empty(self) -> bool:
        return all(pool.now == pool.saved and not pool.because for pool in self.pools)


def compare_plans(saved: PlanFile, plan: Plan) -> PlanDifference:
    """Return what is built otherwise than the saved plan says, at the prices of the plan made
    now.
    """
    before = {row.name: row for row in saved.pools}
    because = _changes(saved, plan)
    pools = [
        _pool(
            pool.name,
            pool.machine,
            before[pool.name].nodes.desired if pool.name in before else 0,
            pool.nodes.desired,
            pool.hourly_usd,
            (
                *_machine_change(
                    before[pool.name].machine if pool.name in before else "", pool.machine
                ),
                *because.get(pool.name, ()),
            ),
        )
        for pool in plan.pools
    ]
    names = {pool.name for pool in plan.pools}
    prices = {pool.name: pool.price_per_hour for pool in saved.fleet.pools}
    pools += [
        _pool(
            row.name,
            row.machine,
            row.nodes.desired,
            0,
            _decimal(prices.get(row.name)),
            ("no longer in the fleet",),
        )
        for row in saved.pools
        if row.name not in names
    ]
    return PlanDifference(pools=tuple(pools), verdict_before=saved.verdict)


def _pool(
    name: str, machine: str, saved: int, now: int, price: Decimal | None, because: tuple[str, ...]
) -> PoolDifference:
    change = Decimal(0) if now == saved else None if price is None else (now - saved) * price
    return PoolDifference(
        pool=name, machine=machine, saved=saved, now=now, hourly_usd=change, because=because
    )


def _decimal(price: object) -> Decimal | None:
    return None if price is None else Decimal(str(price))


def _machine_change(before: str, now: str) -> Iterator[str]:
    if not before:
        yield "new pool"
    elif before != now:
        yield f"{before} → {now}"


def _changes(saved: PlanFile, plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Return by pool the workloads on it, then or now, that came, went, or ask for another number
    of pods.
    """
    level = plan.level
    known = {(row.kind, row.namespace, row.name): row for row in saved.workloads}
    made = {(*each.workload,): each for each in plan.workloads}
    told: dict[str, list[str]] = {}
    for key in sorted({*known, *made}):
        old, new = known.get(key), made.get(key)
        name = f"{key[0]} {key[1]}/{key[2]}"
        now = new.figures.at(level) if new is not None else None
        then = old.demand.figures.at(level) if old is not None else None
        if old is None and new is not None:
            said = f"new: {name}, {counted(now or 0, 'pod')}"
        elif new is None:
            said = f"removed: {name}"
        elif then != now:
            said = f"{name}: {_pods(then)} → {_pods(now)} pods"
        else:
            continue
        places = {row.pool for row in old.placements} if old is not None else set()
        places |= {pool for pool, _ in new.placements} if new is not None else set()
        for pool in places:
            told.setdefault(pool, []).append(said)
    return {pool: tuple(said) for pool, said in told.items()}


def _pods(figure: int | None) -> str:
    return "unbounded" if figure is None else str(figure)
