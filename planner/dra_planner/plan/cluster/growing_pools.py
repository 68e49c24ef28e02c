"""The pools that can add nodes to a snapshot's cluster, and its existing nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.fleet import Fleet
from dra_planner.model import SharedLimit, WorkloadRef
from dra_planner.offers import Offer, predict_offers, with_taint_rules
from dra_planner.offers.verification import pool_of
from dra_planner.plan.cluster.proved_misfits import find_proved_misfits
from dra_planner.plan.cluster.snapshot_plan import ReadCluster
from dra_planner.plan.judgement.simulated_fleet import PROFILES, RANDOM_ORDERS
from dra_planner.simulation import (
    CountQuestion,
    Profile,
    SimulatedNode,
    SimulatedPool,
    count_checks,
    observed_nodes,
    standard_orders,
)
from dra_planner.simulation.cluster.nodes import PoolNodes
from dra_planner.sizing import node_costs

_STEPS_PER_POD: Final = 40  # steps for one order (see `CountQuestion.scale`)
_NEW: Final = "new"  # separator between a pool's name and the number of an added node


class Growth(Struct, frozen=True, kw_only=True):
    """A cluster, the offers of its fleet's pools, and their node counts.

    `nodes` are the existing nodes, and `groups` maps each node's name to its pool. Without a fleet,
    the pools are the kinds of nodes in the cluster.
    """

    cluster: ReadCluster
    fleet: Fleet | None
    predicted: tuple[Offer, ...]
    existing: Mapping[str, int]
    nodes: tuple[SimulatedNode, ...]
    groups: Mapping[str, str]

    @classmethod
    def of(cls, cluster: ReadCluster, fleet: Fleet) -> Growth:
        daemons = {
            each.meta.name for each in cluster.snapshot.workloads if each.kind == "DaemonSet"
        }
        predicted = tuple(
            _without(offer, daemons)
            for offer in with_taint_rules(
                predict_offers(fleet, cluster.features), cluster.manifests.taint_rules
            )
        )
        groups = {node.name: pool_of(node, predicted) or node.name for node in cluster.offers}
        return cls.with_pools(cluster, predicted, groups, fleet)

    @classmethod
    def with_pools(
        cls,
        cluster: ReadCluster,
        predicted: tuple[Offer, ...],
        groups: Mapping[str, str],
        fleet: Fleet | None = None,
    ) -> Growth:
        """Return the growth of these pools, to which nodes belong."""
        counted = Counter(groups.values())
        return cls(
            cluster=cluster,
            fleet=fleet,
            predicted=predicted,
            existing={offer.name: counted[offer.name] for offer in predicted},
            nodes=observed_nodes(cluster.offers, groups),
            groups=groups,
        )

    def question(self, steps: int) -> CountQuestion:
        """Return the simulation's question, with as many arrival orders as the steps allow, at
        least one.
        """
        demand = self.cluster.demand
        pods = sum(shape.figures.steady for shape in demand.shapes if not shape.per_node)
        orders = standard_orders(RANDOM_ORDERS)
        tried = max(1, min(len(orders), steps // max(1, pods * _STEPS_PER_POD)))
        return CountQuestion(
            demand=demand,
            pools=tuple(
                SimulatedPool(
                    offer=offer,
                    packing=0,
                    maximum=max(0, offer.count_max - self.existing[offer.name]),
                    cost=cost,
                    stem=f"{offer.name}-{_NEW}",
                )
                for offer, cost in zip(self.predicted, node_costs(self.predicted), strict=True)
            ),
            beside=self.nodes,
            classes=self.cluster.manifests.classes,
            features=self.cluster.features,
            orders=orders[:tried],
            checks=count_checks(demand, "steady"),
            profile=self.profile,
            limits=tuple(limit.less(self.existing) for limit in self.limits),
        )

    @property
    def profile(self) -> Profile:
        """How the scheduler scores nodes."""
        return PROFILES["default" if self.fleet is None else self.fleet.scheduler_profile]

    @property
    def limits(self) -> tuple[SharedLimit, ...]:
        """The limits that pools share."""
        return () if self.fleet is None else tuple(self.fleet.limits)

    def proved_misfits(self) -> frozenset[WorkloadRef]:
        """Return workloads whose pods don't fit, even with every pool at its maximum."""
        pools = (
            replace(
                offer, count_min=0, count_max=max(0, offer.count_max - self.existing[offer.name])
            )
            for offer in self.predicted
        )
        limits = (limit.less(self.existing) for limit in self.limits)
        cluster = self.cluster
        return find_proved_misfits(
            cluster.demand,
            cluster.offers,
            pools,
            limits,
            cluster.manifests.classes,
            cluster.features,
        )

    def added(self, more: Mapping[str, int]) -> tuple[SimulatedNode, ...]:
        """Return the added nodes."""
        named = (PoolNodes.of(offer, f"{offer.name}-{_NEW}") for offer in self.predicted)
        return tuple(node for pool in named for node in pool.take(more[pool.name]))


def _without(offer: Offer, daemons: set[str]) -> Offer:
    """Return the offer without the requests of the snapshot's DaemonSets, because their pods run on
    every node.
    """
    return replace(
        offer, deductions=tuple(each for each in offer.deductions if each.name not in daemons)
    )
