"""The input of `suggest`, and its results: fleets, each with its plan and its price."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet
from dra_planner.model import DemandLevel, Shape
from dra_planner.plan.model import Plan
from dra_planner.sources import Source

NO_PRICE: Final = "its on-demand price is unknown"
"""The reason to exclude an available machine type if no table contains its price in the region."""


class PricesUnknownError(PlannerError):
    """Raised if the region offers suitable machine types, but no table contains any of their
    prices.
    """


class PoolType(Struct, frozen=True):
    """A pool that can be bought: a machine type, and the MIG configuration of its GPUs, if any.

    `suffix` distinguishes the names of pools with the same machine type.
    """

    machine: Machine
    mig: str = ""
    suffix: str = ""

    def name(self, cloud: Cloud) -> str:
        """Return the name of the pool, which is valid on the cloud."""
        name = cloud.pool_name(self.machine.name)
        if not self.suffix:
            return name
        return cloud.pool_name(
            f"{name[: cloud.longest_pool_name - len(self.suffix) - 1]}-{self.suffix}"
        )


class SuggestRequest(Struct, frozen=True, kw_only=True):
    """The request of `suggest`: workloads, region, and machine types that can be bought.

    An empty list of machine types allows all types. With `may_upgrade`, claims that request a part
    of a device can raise the Kubernetes version. `consumable_shares` is the setting of the NVIDIA
    driver with which claims share devices, or "" for whole devices.
    """

    sources: tuple[Source, ...]
    cloud: str
    region: str
    kubernetes: str
    machines: tuple[str, ...] = ()
    max_price: Decimal | None = None  # maximum price per node-hour
    level: DemandLevel = "steady"
    architectures: frozenset[str] = frozenset({"amd64"})
    """CPU architectures of unlisted machine types, in addition to those that pods select."""
    whole_gpus: bool = False  # excludes machine types with a part of a GPU
    may_upgrade: bool = False
    consumable_shares: str = ""
    system_machine: str = ""  # "" for the cheapest machine type of system pools
    system_nodes: int = 2


class Suggestion(Struct, frozen=True, kw_only=True):
    """A fleet as plain data, ready to commit, its plan, and its number of machine types."""

    fleet: Fleet
    document: dict[str, Any]
    plan: Plan
    hourly_usd: Decimal

    @property
    def machines(self) -> tuple[tuple[str, int], ...]:
        """The nodes of each machine type. The parts of a split pool are added up."""
        return _named(self.counts)

    @property
    def counts(self) -> tuple[tuple[str, str, int], ...]:
        """The nodes of each machine type and MIG configuration ("" for whole GPUs)."""
        migs = {pool.name: pool.mig for pool in (self.plan.fleet or self.fleet).pools}
        nodes: dict[tuple[str, str], int] = {}
        for pool in self.plan.pools:
            mig = migs.get(pool.name, "none")
            key = (pool.machine, "" if mig == "none" else mig)
            nodes[key] = nodes.get(key, 0) + pool.recommended
        return tuple((*key, count) for key, count in nodes.items() if count)


class PackedFleet(Struct, frozen=True, kw_only=True):
    """A fleet of few machine types that isn't planned, because even its lower bound is above the
    price of the best fleet. The scheduler might need more nodes than the packing's `counts`.
    """

    document: dict[str, Any]
    counts: tuple[tuple[str, str, int], ...]  # nodes of each machine type and MIG configuration
    packing_usd: Decimal
    bound_usd: Decimal

    @property
    def machines(self) -> tuple[tuple[str, int], ...]:
        """The packing's nodes of each machine type."""
        return _named(self.counts)


def _named(counts: tuple[tuple[str, str, int], ...]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (f"{machine} (mig: {mig})" if mig else machine, count) for machine, mig, count in counts
    )


class Suggestions(Struct, frozen=True, kw_only=True):
    """The cheapest fleet found and the runners-up, by price.

    It's empty if the workloads don't fit any available machine type. `packed` are runners-up that
    weren't planned, by the price of their packing.

    `plan` is the plan on all candidates, whose bound holds for every fleet of these candidates.
    `known_usd` is the minimum cost of a fleet whose pods certainly fit. Cheaper fleets can't be
    confirmed while facts are unknown. It's None if nothing fits or prices are unknown.
    """

    best: Suggestion | None
    others: tuple[Suggestion, ...]
    packed: tuple[PackedFleet, ...] = ()
    plan: Plan
    candidates: int
    left_out: tuple[tuple[str, str], ...]  # machine type and reason
    known_usd: Decimal | None = None

    @property
    def unpriced(self) -> int:
        """Number of offered machine types that weren't compared because of unknown prices."""
        return sum(reason == NO_PRICE for _, reason in self.left_out)

    @property
    def mig_configurations(self) -> tuple[str, ...]:
        """The MIG configurations of the candidates, in the order of their names."""
        pools = () if self.plan.fleet is None else self.plan.fleet.pools
        return tuple(sorted({pool.mig for pool in pools} - {"", "none"}))

    @property
    def gap(self) -> Decimal:
        """The maximum savings of another fleet of the candidates whose pods are known to fit, as a
        share of the best fleet's price. 0 means proven optimal.
        """
        return self._gap_above(self.known_usd)

    @property
    def gap_of_unknown(self) -> Decimal:
        """The maximum savings of fleets that might not run all pods, as a share of the best fleet's
        price.
        """
        cost = self.plan.cost
        least = None if cost is None else max(cost.bound_usd, _least_node_usd(self.plan))
        return max(self.gap, self._gap_above(least))

    def _gap_above(self, bound: Decimal | None) -> Decimal:
        if self.best is None or bound is None or self.best.plan.cost is None:
            return Decimal(0)
        return replace(self.best.plan.cost, bound_usd=bound).gap


def _least_node_usd(plan: Plan) -> Decimal:
    """Return the price of one node that every fleet needs.

    This is the cheapest machine type for the pods that need the most expensive node, or 0 if a
    price is unknown.
    """
    needed = [
        [answer.offer.hourly_usd for answer in answers if answer.verdict != "does-not-fit"]
        for shape in sized_shapes(plan)
        if not shape.per_node and shape.figures.at(plan.level)
        if (answers := plan.judgement.answers(shape))
    ]
    return max(
        (min(price or Decimal(0) for price in prices) for prices in needed if prices),
        default=Decimal(0),
    )


def sized_shapes(plan: Plan) -> tuple[Shape, ...]:
    judgement = plan.judgement
    return tuple(shape for shape in judgement.demand.shapes if shape.id not in judgement.on_system)
