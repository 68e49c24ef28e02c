"""A lower bound on the cost of all clusters together, for any assignment of workloads: one linear
relaxation with a block per cluster.

Each block is the sizing model of a cluster with all workloads that can run there. The workloads
connect the blocks. Their pods can be split over clusters and pools, which assignments can't do, so
the bound holds for every assignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from dra_planner.model import Demand, DemandLevel, Shape, WorkloadRef
from dra_planner.sizing import Sizer, Sizing
from dra_planner.sizing.bound.exact import (
    BoundModel,
    BoundPool,
    CapacityRow,
    Certificate,
    apply,
    area_certificates,
    strongest,
)
from dra_planner.sizing.bound.relaxation import Relaxation
from dra_planner.sizing.bound.rows import bound_model, pool_rows
from dra_planner.sizing.bound.solver import load_solver
from dra_planner.sizing.items import split_demand
from dra_planner.sizing.packing.compatibility import Compatibility, find_compatibility

MOST_POOLS_BY_AREA = 40
"""Maximum number of pools for which certificates without a solver are tried."""

Piece = tuple[WorkloadRef, str]
"""Pods of one role of a workload."""


class Block(Struct, frozen=True, kw_only=True):
    """One cluster: compatible items and pools, its model, and the node costs of each pool."""

    found: Compatibility
    model: BoundModel
    costs: tuple[Fraction, ...]
    # proven number of nodes that each pool needs for the cluster's own workloads
    least: tuple[int, ...]
    own_cost: Fraction  # proven minimum cost of the cluster's own workloads
    level: DemandLevel
    on_system: frozenset[Piece]  # workloads that don't cost anything here
    doubtful: frozenset[Piece]  # workloads for which it's unknown whether they cost anything here

    @classmethod
    def of(
        cls,
        sizer: Sizer,
        level: DemandLevel,
        costs: Sequence[Fraction],
        own: Sizing,
        elsewhere: Demand,
        doubtful: frozenset[Piece],
    ) -> Block:
        """Return the block of a sizer with all workloads that can run there.

        `own` are the sizes for only the cluster's own workloads, and `elsewhere` is the demand on
        its system pool.
        """
        items = split_demand(sizer.demand, level)
        limits = [(offer.name, offer.count_min, offer.count_max) for offer in sizer.offers]
        found = find_compatibility(items.items, items.daemons, sizer.most, limits, sizer.limits)
        cautious = found
        if sizer.most is not sizer.nodes:
            cautious = find_compatibility(
                items.items, items.daemons, sizer.nodes, limits, sizer.limits
            )
        certain = [
            index for index in range(len(found.items)) if not cautious.is_open_question(index)
        ]
        open_pieces = {
            piece
            for index, item in enumerate(found.items)
            if index not in certain
            for part in item.parts
            for piece, _ in pieces(part.shape, level)
        }
        return cls(
            found=found,
            model=bound_model(
                found,
                pool_rows(found),
                [index for index in certain if not found.is_open_question(index)],
            ),
            costs=tuple(costs),
            least=tuple(_proved(own, offer.name) for offer in sizer.offers),
            own_cost=_own_cost(own, costs),
            level=level,
            on_system=frozenset(
                piece for shape in elsewhere.shapes for piece, _ in pieces(shape, level)
            ),
            doubtful=doubtful
            | open_pieces
            | {(member.workload, member.pod_set) for _, member in items.unbounded},
        )


class JointModel(Struct):
    """The blocks as one model.

    `tokens` are the workloads of each movable item, with their numbers of pods.
    """

    model: BoundModel
    costs: tuple[Fraction, ...]
    tokens: dict[int, tuple[frozenset[WorkloadRef], int]]
    cluster_of: tuple[int, ...]  # cluster of each pool
    own_cost: Fraction  # minimum cost of the clusters without any movable workload

    @classmethod
    def of(
        cls, blocks: Sequence[Block], movable: Mapping[WorkloadRef, frozenset[int]]
    ) -> JointModel:
        """Return the joint model. `movable` are the clusters (by position) that each workload can
        use.
        """
        builder = _Builder(blocks, movable)
        builder.add_own()
        builder.add_movable()
        return builder.finish()

    def bound(self) -> tuple[Fraction, dict[tuple[int, int], float]]:
        """Return the proven minimum cost, and a fractional assignment by (item, pool), which is
        empty without a solver.
        """
        floor = sum(
            (cost * pool.minimum for cost, pool in zip(self.costs, self.model.pools, strict=True)),
            Fraction(0),
        )
        least = max(floor, self.own_cost)
        if not self.model.demand:
            return least, {}
        certificates: list[Certificate] = []
        assigned: dict[tuple[int, int], float] = {}
        solver = load_solver()
        if len(self.model.pools) <= MOST_POOLS_BY_AREA or solver is None:
            certificates += area_certificates(self.model)
        if solver is not None:
            programs = Relaxation(self.model, solver)
            greatest = max(self.costs) or Fraction(1)
            costs = [float(cost / greatest) for cost in self.costs]
            found = programs.cheapest(costs)
            if found is not None:
                certificates.append(found[0])
                assigned = found[1]
        worths = [apply(each, self.model) for each in certificates]
        if any(worth.is_infeasible(self.model) for worth in worths):
            return least, assigned  # no assignment places all pods, so any bound is valid
        proved = strongest(worths, self.model, self.costs)
        return max(least, proved), assigned

    def is_too_much(self) -> bool:
        """Return whether it's proven that the demand exceeds all clusters."""
        solver = load_solver()
        found = (
            list(area_certificates(self.model))
            if len(self.model.pools) <= MOST_POOLS_BY_AREA
            else []
        )
        if solver is not None and self.model.demand:
            shortage = Relaxation(self.model, solver).shortage()
            found += [shortage] if shortage is not None else []
        return any(apply(each, self.model).is_infeasible(self.model) for each in found)


class _Builder(Struct):
    blocks: Sequence[Block]
    movable: Mapping[WorkloadRef, frozenset[int]]
    demand: dict[int, int] = {}
    tokens: dict[int, tuple[frozenset[WorkloadRef], int]] = {}
    copies: dict[tuple[int, int], list[int]] = {}
    """Joint items by (cluster, item of its block)."""

    def add_own(self) -> None:
        """Add the workloads that always run in their cluster, without the movable workloads in
        common items.
        """
        for at, block in enumerate(self.blocks):
            for item in block.model.demand:
                own = sum(
                    count for piece, count in _content(block, item) if piece[0] not in self.movable
                )
                whole = block.found.items[item]
                if own and whole.is_shared:
                    own = int(
                        all(piece[0] not in self.movable for piece, _ in _content(block, item))
                    )
                if own:
                    self._new(own, [(at, item)])

    def add_movable(self) -> None:
        """Add the pieces of movable workloads.

        Pieces that some cluster might run at an unknown cost don't contribute.
        """
        merged: dict[tuple[tuple[int, int], ...], int] = {}
        owners: dict[tuple[tuple[int, int], ...], list[WorkloadRef]] = {}
        for piece, found in sorted(self._found().items()):
            targets = self.movable[piece[0]]
            if any(
                piece in block.on_system or piece in block.doubtful for block in self._of(targets)
            ):
                continue
            places = tuple(sorted((at, item) for at, (item, _) in found.items() if at in targets))
            pods = min((count for at, (_, count) in found.items() if at in targets), default=0)
            if places and pods:
                if any(self.blocks[at].found.items[item].is_shared for at, item in places):
                    # skip these pods, which depend on other pods, so only the sizes of the clusters
                    # count them
                    continue
                merged[places] = merged.get(places, 0) + pods
                owners.setdefault(places, []).append(piece[0])
        for places, pods in merged.items():
            index = self._new(pods, places)
            self.tokens[index] = (frozenset(owners[places]), pods)

    def _of(self, clusters: frozenset[int]) -> Iterator[Block]:
        return (self.blocks[at] for at in sorted(clusters))

    def _found(self) -> dict[Piece, dict[int, tuple[int, int]]]:
        """Return, for each piece of a movable workload, its item and its pods by cluster."""
        found: dict[Piece, dict[int, tuple[int, int]]] = {}
        for at, block in enumerate(self.blocks):
            for item in block.model.demand:
                for piece, pods in _content(block, item):
                    if piece[0] in self.movable:
                        found.setdefault(piece, {})[at] = (item, pods)
        return found

    def _new(self, demand: int, places: Sequence[tuple[int, int]]) -> int:
        index = len(self.demand)
        self.demand[index] = demand
        for place in places:
            self.copies.setdefault(place, []).append(index)
        return index

    def finish(self) -> JointModel:
        pools: list[BoundPool] = []
        costs: list[Fraction] = []
        cluster_of: list[int] = []
        for at, block in enumerate(self.blocks):
            costs += block.costs
            for pool, proved in zip(block.model.pools, block.least, strict=True):
                cluster_of.append(at)
                pools.append(
                    BoundPool(
                        minimum=max(pool.minimum, proved),
                        maximum=pool.maximum,
                        rows=tuple(
                            CapacityRow(row.name, row.capacity, self._renumbered(at, row.needs))
                            for row in pool.rows
                        ),
                        most=self._renumbered(at, pool.most),
                    )
                )
        model = BoundModel(demand=self.demand, pools=tuple(pools))
        own_cost = sum((block.own_cost for block in self.blocks), Fraction(0))
        return JointModel(model, tuple(costs), self.tokens, tuple(cluster_of), own_cost)

    def _renumbered(self, cluster: int, amounts: Mapping[int, int]) -> dict[int, int]:
        return {
            copy: amount
            for item, amount in amounts.items()
            for copy in self.copies.get((cluster, item), ())
        }


def _proved(own: Sizing, pool: str) -> int:
    """Return the nodes that a pool has in every plan, or its minimum if its own workloads don't
    fit.
    """
    size = own.pool(pool)
    return size.bound if all(each.bound <= each.maximum for each in own.pools) else size.minimum


def _own_cost(own: Sizing, costs: Sequence[Fraction]) -> Fraction:
    """Return the minimum cost of the own workloads, or 0 if they don't fit, because a plan then
    leaves some pods pending.
    """
    if any(each.pending for each in own.workloads):
        return Fraction(0)
    if all(cost == 1 for cost in costs):
        return Fraction(own.nodes_bound)
    return Fraction(own.hourly_bound or 0) * 1_000_000


def pieces(shape: Shape, level: DemandLevel) -> Iterator[tuple[Piece, int]]:
    """Yield the pieces of a shape, and their pods."""
    for member in shape.members:
        yield (member.workload, member.pod_set), member.figures.at(level) or 0


def _content(block: Block, item: int) -> Iterator[tuple[Piece, int]]:
    for part in block.found.items[item].parts:
        yield from pieces(part.shape, block.level)
