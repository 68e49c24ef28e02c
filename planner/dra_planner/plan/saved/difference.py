"""Differences between two plans: settings, pools, workloads, verdicts, and cost, with causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from msgspec import Struct

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.model import Verdict
from dra_planner.offers import node_price
from dra_planner.plan.saved.settings import SettingDifference, compare_settings
from dra_planner.plan.saved.workload_difference import (
    RANK,
    WorkloadDifference,
    placing_causes,
    pod_causes,
)
from dra_planner.planfile import PlanFile, WorkloadRow


class PoolDifference(Struct, frozen=True, kw_only=True):
    """Nodes of one pool in both plans; 0 nodes and no machine type if a plan doesn't have the pool.

    `hourly_usd` is the change in USD per hour at current prices, or None if a relevant price is
    unknown.
    """

    pool: str
    machine_before: str
    machine: str
    before: int
    after: int
    hourly_usd: Decimal | None
    because: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether the pool is built with other nodes, or for a different reason."""
        return (
            self.before != self.after or self.machine_before != self.machine or bool(self.because)
        )


class PlanDifference(Struct, frozen=True, kw_only=True):
    """Everything that differs between two plans. Pools are in the order of the newer fleet, removed
    ones last.

    `verdict_before` is None if there is no older plan.
    """

    verdict_before: Verdict | None
    verdict_after: Verdict
    settings: tuple[SettingDifference, ...]
    pools: tuple[PoolDifference, ...]
    workloads: tuple[WorkloadDifference, ...]

    @property
    def nodes(self) -> int:
        """The change in nodes of all pools."""
        return sum(pool.after - pool.before for pool in self.pools)

    @property
    def hourly_usd(self) -> Decimal | None:
        """The change in USD per hour at current prices; None if a price that matters is unknown."""
        known = [pool.hourly_usd for pool in self.pools]
        return (
            None if None in known else sum((each for each in known if each is not None), Decimal(0))
        )

    @property
    def is_empty(self) -> bool:
        """Whether the pools are built with the same nodes, for the same workloads."""
        return not any(pool.is_changed for pool in self.pools)

    @property
    def is_same(self) -> bool:
        """Whether nothing differs at all."""
        changed = self.settings or any(each.is_changed for each in self.workloads)
        return self.is_empty and not changed and self.verdict_before == self.verdict_after

    @property
    def worse(self) -> tuple[WorkloadDifference, ...]:
        """Workloads whose verdict is worse than before."""
        return tuple(each for each in self.workloads if each.is_worse)

    @property
    def regression(self) -> Verdict:
        """The verdict on the change: *fits* if neither the plan nor any workload has a worse
        verdict than before.
        """
        found = [each.verdict_after for each in self.worse]
        if RANK[self.verdict_after] > RANK[self.verdict_before or "fits"]:
            found.append(self.verdict_after)
        return max((each for each in found if each), key=RANK.__getitem__, default="fits")


def compare_plans(before: PlanFile | None, after: PlanFile) -> PlanDifference:
    """Return the differences between two plans, at current prices.

    `before` is None if there is no older plan.
    """
    workloads = tuple(_workloads(before, after))
    settings = () if before is None else compare_settings(before, after)
    return PlanDifference(
        verdict_before=None if before is None else before.verdict,
        verdict_after=after.verdict,
        settings=settings,
        pools=tuple(_pools(before, after, workloads, settings)),
        workloads=workloads,
    )


# -- pools


class _Built(Struct, frozen=True):
    """The nodes that a plan builds in one pool."""

    machine: str = ""
    nodes: int = 0
    price: Decimal | None = None

    @property
    def hourly_usd(self) -> Decimal | None:
        return (
            Decimal(0)
            if not self.nodes
            else None
            if self.price is None
            else self.nodes * self.price
        )


def _built(plan: PlanFile | None) -> Mapping[str, _Built]:
    if plan is None:
        return {}
    prices = _prices(plan.fleet)
    return {
        row.name: _Built(row.machine, row.nodes.desired, prices.get(row.name)) for row in plan.pools
    }


def _prices(fleet: Fleet) -> Mapping[str, Decimal | None]:
    return {pool.name: node_price(fleet, pool) for pool in fleet.pools}


def _pools(
    before: PlanFile | None,
    after: PlanFile,
    workloads: tuple[WorkloadDifference, ...],
    settings: tuple[SettingDifference, ...],
) -> Iterator[PoolDifference]:
    causes, placing = pod_causes(workloads), placing_causes(workloads)
    old, new = _built(before), _built(after)
    for name in dict.fromkeys((*new, *old)):
        then, now = old.get(name, _Built()), new.get(name, _Built())
        paid, pays = then.hourly_usd, now.hourly_usd
        is_same = (then.machine, then.nodes, then.price) == (now.machine, now.nodes, now.price)
        because = causes.get(name, ())
        if then.nodes != now.nodes and then.machine == now.machine:
            because = because or tuple(_pool_settings(settings, name)) or placing.get(name, ())
        yield PoolDifference(
            pool=name,
            machine_before=then.machine,
            machine=now.machine,
            before=then.nodes,
            after=now.nodes,
            hourly_usd=Decimal(0)
            if is_same
            else None
            if paid is None or pays is None
            else pays - paid,
            because=(
                *_machine_change(then.machine, now.machine, after.fleet.cloud),
                *(because if now.machine else ()),
            ),
        )


def _pool_settings(settings: tuple[SettingDifference, ...], pool: str) -> Iterator[str]:
    for each in settings:
        name = each.path.removeprefix(f"pools.{pool}.")
        if name != each.path:
            yield f"{name}: {each.before or 'not set'} → {each.after or 'not set'}"


def _machine_change(before: str, after: str, cloud_name: str) -> Iterator[str]:
    if not before:
        yield "new pool"
    elif not after:
        yield "no longer in the fleet"
    elif before != after:
        yield f"{before} → {after}"
        yield cloud(cloud_name).machine_change


# -- workloads


def _workloads(before: PlanFile | None, after: PlanFile) -> Iterator[WorkloadDifference]:
    old, new = _rows(before), _rows(after)
    for kind, namespace, name in sorted({*old, *new}):
        then, now = old.get((kind, namespace, name)), new.get((kind, namespace, name))
        yield WorkloadDifference(
            kind=kind,
            namespace=namespace,
            name=name,
            before=then,
            after=now,
            pods_before=_pods(before, then),
            pods_after=_pods(after, now),
            verdict_before=_verdict(before, then),
            verdict_after=_verdict(after, now),
        )


def _rows(plan: PlanFile | None) -> Mapping[tuple[str, str, str], WorkloadRow]:
    return (
        {} if plan is None else {(row.kind, row.namespace, row.name): row for row in plan.workloads}
    )


def _pods(plan: PlanFile | None, row: WorkloadRow | None) -> int | None:
    return None if plan is None or row is None else row.demand.figures.at(plan.demand.level)


def _verdict(plan: PlanFile | None, row: WorkloadRow | None) -> Verdict | None:
    return None if plan is None or row is None else row.verdicts[plan.demand.level]
