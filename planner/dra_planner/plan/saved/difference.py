"""Differences between two plans: settings, pools, workloads, verdicts, and cost, with causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from msgspec import Struct

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.model import Verdict
from dra_planner.offers import node_price
from dra_planner.plan.saved.settings import SettingDifference, compare_settings
from dra_planner.planfile import PlanFile, WorkloadRow
from dra_planner.wording import counted

_RANK: Final[Mapping[Verdict, int]] = {"fits": 0, "cannot-tell": 1, "does-not-fit": 2}


class PoolDifference(Struct, frozen=True, kw_only=True):
    """Nodes of one pool in both plans; 0 nodes and no machine type if a plan doesn't have the pool.

    `hourly_usd` is the change in USD per hour at current prices, None if a price that matters is
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
        """Whether the pool is built with other nodes, or for another reason."""
        return (
            self.before != self.after or self.machine_before != self.machine or bool(self.because)
        )


class WorkloadDifference(Struct, frozen=True, kw_only=True):
    """One workload in both plans; None if a plan doesn't have it."""

    kind: str
    namespace: str
    name: str
    before: WorkloadRow | None
    after: WorkloadRow | None
    pods_before: int | None
    pods_after: int | None
    verdict_before: Verdict | None
    verdict_after: Verdict | None

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def pools_before(self) -> tuple[str, ...]:
        """The pools of its pods in the older plan."""
        return () if self.before is None else tuple(row.pool for row in self.before.placements)

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools of its pods in the newer plan."""
        return () if self.after is None else tuple(row.pool for row in self.after.placements)

    @property
    def is_worse(self) -> bool:
        """Whether the workload fits less surely than before, or is new and doesn't fit."""
        before, after = self.verdict_before or "fits", self.verdict_after or "fits"
        return _RANK[after] > _RANK[before]

    @property
    def is_changed(self) -> bool:
        """Whether its pods, its verdict, or their placement differ."""
        if self.before is None or self.after is None:
            return True
        return (
            self.pods_before != self.pods_after
            or self.verdict_before != self.verdict_after
            or self.before.pending != self.after.pending
            or self.before.placements != self.after.placements
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
        """Workloads that fit less surely than before."""
        return tuple(each for each in self.workloads if each.is_worse)

    @property
    def regression(self) -> Verdict:
        """The verdict on the change: fits if neither the plan nor a workload fits less surely than
        before.
        """
        found = [each.verdict_after for each in self.worse]
        if _RANK[self.verdict_after] > _RANK[self.verdict_before or "fits"]:
            found.append(self.verdict_after)
        return max((each for each in found if each), key=_RANK.__getitem__, default="fits")


def compare_plans(before: PlanFile | None, after: PlanFile) -> PlanDifference:
    """Return the differences between two plans, at current prices. `before` is None if there was no
    plan yet.
    """
    workloads = tuple(_workloads(before, after))
    return PlanDifference(
        verdict_before=None if before is None else before.verdict,
        verdict_after=after.verdict,
        settings=() if before is None else compare_settings(before, after),
        pools=tuple(_pools(before, after, _causes(workloads))),
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
    before: PlanFile | None, after: PlanFile, causes: Mapping[str, tuple[str, ...]]
) -> Iterator[PoolDifference]:
    old, new = _built(before), _built(after)
    for name in dict.fromkeys((*new, *old)):
        then, now = old.get(name, _Built()), new.get(name, _Built())
        paid, pays = then.hourly_usd, now.hourly_usd
        is_same = (then.machine, then.nodes, then.price) == (now.machine, now.nodes, now.price)
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
                *(causes.get(name, ()) if now.machine else ()),
            ),
        )


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


def _causes(workloads: tuple[WorkloadDifference, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return by pool its workloads that are new, removed, or request another number of pods."""
    found: dict[str, list[str]] = {}
    for each in workloads:
        cause = _cause(each)
        rows = [row for row in (each.before, each.after) if row is not None]
        for pool in (
            {placement.pool for row in rows for placement in row.placements} if cause else ()
        ):
            found.setdefault(pool, []).append(cause)
    return {pool: tuple(causes) for pool, causes in found.items()}


def _cause(workload: WorkloadDifference) -> str:
    if workload.before is None:
        return f"new: {workload}, {counted(workload.pods_after or 0, 'pod')}"
    if workload.after is None:
        return f"removed: {workload}"
    if workload.pods_before == workload.pods_after:
        return ""
    return f"{workload}: {_number(workload.pods_before)} → {_number(workload.pods_after)} pods"


def _number(pods: int | None) -> str:
    return "unbounded" if pods is None else str(pods)
