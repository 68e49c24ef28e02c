"""Compute nodes per pool from demand and offers: the bound, the best packing, and pending pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Demand, DemandLevel, DeviceClass, SharedLimit, worst
from dra_planner.offers import Offer
from dra_planner.releases import Features
from dra_planner.sizing.answers import Enough, PackedLevel, answer_workloads
from dra_planner.sizing.bound.exact import BoundModel
from dra_planner.sizing.bound.proof import BoundProof, conclude, split
from dra_planner.sizing.bound.rows import bound_model, pool_rows, row_weights
from dra_planner.sizing.bound.solver import load_solver
from dra_planner.sizing.items import Item, Shares, merge_alike, split_demand
from dra_planner.sizing.least_raises import (
    MOST_PAIRS,
    Raises,
    Tried,
    free_raises,
    least_raises,
)
from dra_planner.sizing.leftovers import count_devices, count_left, planned_classes
from dra_planner.sizing.packing.compatibility import Compatibility, find_compatibility
from dra_planner.sizing.packing.empty_nodes import Nodes
from dra_planner.sizing.packing.filling import Filling
from dra_planner.sizing.packing.first_fit import Packing
from dra_planner.sizing.packing.patterns import History, totals
from dra_planner.sizing.packing.strategies import Market
from dra_planner.sizing.prices import NodeCost, hourly_usd, is_priced, node_costs, total_cost, usd
from dra_planner.sizing.raised_maximums import enough_nodes
from dra_planner.sizing.result import Evidence, NodePattern, PoolSize, Sizing
from dra_planner.sizing.solving import Solving

if TYPE_CHECKING:  # needed only if pods are pending
    from dra_planner.sizing.least_raises import Raises, Tried

MOST_GAP = 0.0
"""Accepted excess cost of a packing over the bound. If the excess is smaller, the search for a
better packing ends.
"""


class Sizer(Struct):
    """Sizes the levels of one demand on the same offers, and caches the allocator's answers between
    levels.
    """

    demand: Demand
    offers: tuple[Offer, ...]
    nodes: Nodes
    most: Nodes  # the same nodes with their maximum resources, for proofs
    costs: tuple[NodeCost, ...]
    with_solver: bool = True
    gap: float = MOST_GAP
    limits: tuple[SharedLimit, ...] = ()
    with_raises: bool = True  # whether to search for maximums with which all pods fit
    known_only: bool = False

    @classmethod
    def of(
        cls,
        demand: Demand,
        offers: Iterable[Offer],
        classes: Mapping[str, DeviceClass],
        features: Features,
        *,
        with_solver: bool = True,
        gap: float = MOST_GAP,
        limits: Iterable[SharedLimit] = (),
        known_only: bool = False,
    ) -> Sizer:
        """Return a sizer for pools, in the order of their names.

        `gap` is the accepted excess cost of a packing, as a share of the bound. `limits` are shared
        limits. With `known_only`, bounds hold for plans whose pods are known to fit: a pool that
        might fit a pod counts as a pool that doesn't, and nodes have their minimum resources.
        """
        ordered = tuple(sorted(offers, key=lambda offer: offer.name))
        nodes = most = Nodes.of(ordered, classes, features, demand)
        if not known_only and any(offer.at_most for offer in ordered):
            most = Nodes.of(ordered, classes, features, demand, is_generous=True)
        return cls(
            demand,
            ordered,
            nodes,
            most,
            node_costs(ordered),
            with_solver,
            gap,
            tuple(limits),
            known_only=known_only,
        )

    @property
    def filling(self) -> Filling:
        """Cached states of nodes as pods are placed on them."""
        return self.nodes.filling

    def size(self, level: DemandLevel) -> Sizing:
        """Return the sizes at one level, with every pool at most at its maximum."""
        items = split_demand(self.demand, level)
        items = replace(items, items=merge_alike(items.items, self.nodes.needs))
        limits = [(offer.name, offer.count_min, offer.count_max) for offer in self.offers]
        found = find_compatibility(items.items, items.daemons, self.nodes, limits, self.limits)
        rows = pool_rows(found)
        market = Market.of(found, self.costs, row_weights(found, rows))
        generous = found
        if self.most is not self.nodes:
            generous = find_compatibility(
                items.items, items.daemons, self.most, limits, self.limits
            )
        certain = self._certain(found, generous)
        most = rows if generous is found else pool_rows(generous)
        model = bound_model(generous, most, certain)
        solving = self._solving(market, model, [len(rows_of_pool) for rows_of_pool, _ in most])
        packing, proof = solving.solve()
        used = packing.used_nodes(found.rooms)
        outcome = PackedLevel(
            level=level,
            demand=self.demand,
            items=items,
            found=found,
            packing=packing,
            used=used,
            enough=self._enough_nodes(market, proof, packing, level),
            proof=proof,
            zones={offer.name: offer.zones for offer in self.offers},
        )
        workloads = answer_workloads(outcome)
        pools = tuple(self._pool_size(index, outcome) for index in range(len(self.offers)))
        priced = all(offer.hourly_usd is not None for offer in self.offers)
        return Sizing(
            level=level,
            verdict=worst(each.verdict for each in workloads),
            pools=pools,
            workloads=workloads,
            nodes_bound=proof.nodes_in_all,
            nodes_plan=sum(used),
            hourly_bound=usd(solving.cost_bound()) if priced else None,
            hourly_plan=hourly_usd(
                {each.name: nodes for each, nodes in zip(self.offers, used, strict=True)},
                self.offers,
            ),
            method=packing.method,
            patterns=_patterns(outcome),
            evidence=self._evidence(outcome, model, solving.plain),
        )

    def _certain(self, found: Compatibility, generous: Compatibility) -> list[int]:
        """Return the items that the bound counts.

        These are all items whose fit on nodes with their maximum resources is known, or all items
        if unknown facts count as missing. An item that fits only nodes with their maximum resources
        isn't counted, because the packing can't place it.
        """
        return [
            index
            for index in range(len(found.items))
            if self.known_only
            or (
                not generous.is_open_question(index)
                and (found.pools_of(index) or not found.is_open_question(index))
            )
        ]

    def _evidence(self, outcome: PackedLevel, model: BoundModel, plain: Sequence[int]) -> Evidence:
        held = [(group, Counter[int]()) for group in outcome.packing.classes if group.history]
        for group, counts in held:
            for item, count in group.history:
                counts[item] += count
        return Evidence(
            pools=tuple(room.name for room in outcome.found.rooms),
            items=tuple(item.id for item in outcome.found.items),
            model=model,
            plain=tuple(plain),
            costs=tuple(int(cost) for cost in self._unit_costs()),
            proof=outcome.proof,
            packing=tuple((group.pool, group.count, counts) for group, counts in held),
        )

    def _enough_nodes(
        self, market: Market, proof: BoundProof, packing: Packing, level: DemandLevel
    ) -> Enough:
        rooms = market.found.rooms
        if not packing.pending or not self.with_raises:
            used = packing.used_nodes(rooms)
            return Enough(tuple(room.maximum or 0 for room in rooms), (), used, proof.nodes)
        enough = enough_nodes(market, self.filling, proof.nodes, packing)
        if len(market.found.items) * len(rooms) > MOST_PAIRS:
            bounds = [room.minimum for room in rooms]
            return replace(enough, nodes=self._buildable(enough.nodes), bounds=bounds)
        given = Raises(
            {room.name: room.maximum or 0 for room in rooms},
            {limit.name: limit.most for limit in self.limits},
        )
        found = Raises(
            {room.name: nodes for room, nodes in zip(rooms, enough.nodes, strict=True)},
            {**given.limits, **{limit.name: most for limit, most in enough.limits}},
        )
        pods = sum(item.pods * item.count for item in market.found.items)
        free = self._try(free_raises(given, self.limits, pods), level)
        least, tried = least_raises(
            given, found, self.limits, free, lambda raises: self._try(raises, level)
        )
        raised = tuple(
            (limit, least.limits[limit.name])
            for limit in self.limits
            if least.limits[limit.name] > limit.most
        )
        return Enough(
            self._buildable([least.nodes[room.name] for room in rooms]),
            raised,
            used=tuple(tried.used[room.name] for room in rooms),
            bounds=tuple(free.bounds[room.name] for room in rooms),
        )

    def _buildable(self, maximums: Sequence[int]) -> tuple[int, ...]:
        """Return the maximums, with each raised maximum at a count that the cloud can build."""
        return tuple(
            nodes if nodes == offer.count_max else offer.buildable(nodes)
            for offer, nodes in zip(self.offers, maximums, strict=True)
        )

    def _try(self, raises: Raises, level: DemandLevel) -> Tried:
        """Size the items with other maximums and limits."""
        sizing = replace(
            self,
            offers=tuple(
                replace(offer, count_max=raises.nodes[offer.name]) for offer in self.offers
            ),
            limits=tuple(replace(limit, most=raises.limits[limit.name]) for limit in self.limits),
            with_raises=False,
        ).size(level)
        pending = sum(each.pending for each in sizing.workloads)
        return Tried(
            pending,
            total_cost([pool.plan for pool in sizing.pools], self.costs),
            {pool.name: pool.plan for pool in sizing.pools},
            {pool.name: pool.bound for pool in sizing.pools},
        )

    def _solving(self, market: Market, model: BoundModel, plain: Sequence[int]) -> Solving:
        costs = self._unit_costs()
        return Solving(
            market=market,
            filling=self.filling,
            model=model,
            plain=plain,
            proof=conclude(split(model), costs),
            costs=costs,
            is_certain=self.most is self.nodes,
            solver=load_solver if self.with_solver and model.demand else _no_solver,
            gap=self.gap,
        )

    def _unit_costs(self) -> list[Fraction]:
        """Return micro-dollars if any price is known, otherwise nodes."""
        priced = is_priced(self.offers)
        return [Fraction(cost[0]) if priced else Fraction(1) for cost in self.costs]

    def _pool_size(self, index: int, outcome: PackedLevel) -> PoolSize:
        offer = self.offers[index]
        room, nodes = outcome.found.rooms[index], outcome.used[index]
        classes = planned_classes(outcome.packing, room, index, nodes)
        return PoolSize(
            name=offer.name,
            minimum=offer.count_min,
            bound=outcome.enough.bounds[index],
            plan=outcome.used[index],
            maximum=offer.count_max,
            enough=outcome.enough.nodes[index],
            used_with_enough=outcome.enough.used[index],
            devices=count_devices(classes, outcome.found, self.filling),
            left=count_left(classes),
            hourly_usd=offer.hourly_usd,
        )


def size_pools(
    demand: Demand,
    offers: Iterable[Offer],
    classes: Mapping[str, DeviceClass],
    features: Features,
    level: DemandLevel = "steady",
    limits: Iterable[SharedLimit] = (),
) -> Sizing:
    """Return the number of nodes of each pool that one level of the demand needs, and pending pods
    with reasons.

    Never raises for any demand. The time depends on shapes and pools, not on replicas. The answer
    doesn't depend on the order of offers or shapes.
    """
    return Sizer.of(demand, offers, classes, features, limits=limits).size(level)


def _no_solver() -> None:
    return None


def _patterns(outcome: PackedLevel) -> tuple[NodePattern, ...]:
    """Return the contents of each pool's nodes, by pool. Empty nodes aren't included."""
    patterns = []
    shares = Shares(outcome.found.items)
    for pool, room in enumerate(outcome.found.rooms):
        for group in outcome.packing.classes:
            left = group.count if group.pool == pool and group.history else 0
            while left:
                nodes = shares.nodes_alike(totals(group.history), left)
                pods = tuple(_pods(group.history, nodes, outcome.found.items, shares))
                patterns.append(NodePattern(pool=room.name, nodes=nodes, pods=pods))
                left -= nodes
    return tuple(patterns)


def _pods(
    history: History, nodes: int, items: Sequence[Item], shares: Shares
) -> Iterator[tuple[str, int]]:
    """Yield shapes and pods on each of these equal nodes. Groups of several shapes keep their
    order.
    """
    for item, count in history:
        if len(items[item].parts) > 1:
            for _ in range(count):
                yield from ((part.shape.id, part.pods) for part in items[item].parts)
        else:
            yield from (
                (part.shape.id, part.pods // nodes) for part in shares.take(item, count * nodes)
            )
