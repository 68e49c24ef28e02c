"""Round a fractional mix of filled nodes to a packing.

The packing contains the mix's whole nodes, and places the other items with the best of several
methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

from msgspec import Struct

from dra_planner.sizing.bound.columns import Center, Column, ColumnProgram, Generated
from dra_planner.sizing.bound.exact import BoundModel
from dra_planner.sizing.bound.node_program import SCALE
from dra_planner.sizing.bound.pricing import Pattern, Pricer
from dra_planner.sizing.bound.proof import ConnectedPools
from dra_planner.sizing.bound.solver import new_program
from dra_planner.sizing.items import Item
from dra_planner.sizing.packing.downsizing import downsize
from dra_planner.sizing.packing.filling import Filling
from dra_planner.sizing.packing.first_fit import NodeClass, Packing, extend, room_of
from dra_planner.sizing.packing.patterns import Patterns, totals
from dra_planner.sizing.packing.strategies import Market, cheap_pools, choices, orders

MOST_ROUNDS = 200
"""Rounds of column generation."""

MOST_PRICED = 3_000
"""Maximum number of priced nodes, over all rounds and pools, before a last round that improves the
bound.
"""

MOST_BEGUN = 2_000
"""Number of (item, pool) pairs up to which a node of every pool filled with one item is an initial
column.
"""

MOST_ROUNDED = 120
"""Number of columns up to which integers are searched."""

_LITTLE = 0.1  # share of the gap that is accepted, because closing it isn't worth an integer search

_NODES = 200
"""Limit of the integer search, in search nodes instead of time, so that every run has the same
result.
"""


class Mixing(Struct):
    """Columns of all parts of a model, and the packing that consists mostly of their whole nodes.

    `plain` are the rows of each pool's model that aren't rounded from others. `is_certain` is set
    if nodes have exactly the model's resources. `gap` is the accepted excess cost, as a share of
    the bound. `few` are the initial pools among many.
    """

    market: Market
    filling: Filling
    patterns: Patterns
    plain: Sequence[int]
    costs: Sequence[Fraction]
    solver: Any
    is_certain: bool
    gap: float
    few: frozenset[int] = frozenset()
    _cost_of_mix: float = 0.0
    _mix: list[Column] = []
    _dived: list[tuple[Column, int]] = []

    def generate(self, part: ConnectedPools, packing: Packing) -> Generated:
        """Return the cheapest mix for one part. The nodes of a packing are initial columns."""
        program = ColumnProgram(
            part.model,
            part.pools,
            [int(cost) for cost in self.costs],
            lambda pool: self._pricer(pool, part.model),
            self.solver,
        )
        for item, pool in self._beginning(part):
            program.add(
                pool, {item: min(self.market.found.fills[item, pool], part.model.demand[item])}
            )
        for group in packing.classes:
            if group.pool in part.pools and group.history:
                program.add(group.pool, totals(group.history))
        made = program.generate(_best_prices(part, self.costs), MOST_ROUNDS, MOST_PRICED, self.gap)
        self._mix += made.columns
        self._cost_of_mix += made.cost
        self._dived += program.dive()
        return made

    def _beginning(self, part: ConnectedPools) -> Iterator[tuple[int, int]]:
        """Yield pairs of an item and a pool whose node filled with it is a column, only the
        cheapest if there are many.
        """
        found, demand = self.market.found, part.model.demand
        few = self.few.intersection(part.pools)
        is_all = sum(len(found.takers[item]) for item in demand) <= MOST_BEGUN
        for item in demand:
            takers = found.takers[item]
            if is_all or few:
                yield from ((item, pool) for pool in takers if is_all or pool in few)
                continue
            yield from ((item, pool) for pool in cheap_pools(self.market, item, demand[item]))

    def packings(self) -> Iterator[Packing]:
        """Yield packings with the whole nodes of the mix, each computed on request.

        The last one uses an integer solution of the columns, if this could close a significant part
        of the gap.
        """
        whole = [(column, int(column.nodes + 1e-6)) for column in self._mix]
        least: float | None = None
        for counts in (self._dived, whole):
            for packing in self._completed(counts):
                if not packing.pending:
                    cost = float(
                        sum(map(mul, self.costs, packing.used_nodes(self.market.found.rooms)))
                    )
                    least = cost if least is None else min(cost, least)
                yield packing
        is_worth_it = least is None or least > self._cost_of_mix * (1 + _LITTLE * self.gap)
        rounded = (
            _round_up(self.market, whole, self.solver)
            if is_worth_it and len(whole) <= MOST_ROUNDED
            else None
        )
        if rounded is not None:
            yield from self._completed(rounded)

    def _completed(self, counts: Sequence[tuple[Column, int]]) -> Iterator[Packing]:
        """Yield packings with these numbers of nodes of each column, and the rest placed by
        first-fit.
        """
        market, rooms = self.market, self.market.found.rooms
        begun = _begin(market, self.patterns, counts)
        rest = _rest(market, begun)
        for _, order in orders(market):
            pending = [item for item in order if rest[item].count]
            for choose in choices(market):
                packing = begun.copy()
                extend(packing, rest, pending, rooms, market.found.takers, self.filling, choose)
                downsize(packing, market, self.patterns)
                packing.method = "column generation, rounded"
                yield packing
                if not pending:
                    return

    def _pricer(self, pool: int, model: BoundModel) -> Pricer:
        def takes(pattern: Pattern) -> bool:
            if self.is_certain:
                return self.patterns.takes(pool, pattern)
            return totals(self.patterns.fill(pool, pattern)[1]) == pattern

        return Pricer(model.pools[pool], self.plain[pool], model.demand, takes)


def _begin(market: Market, patterns: Patterns, counts: Sequence[tuple[Column, int]]) -> Packing:
    """Return a packing with these numbers of nodes of each column. Nodes that would exceed the
    demand are filled with less.
    """
    rooms = market.found.rooms
    packing = Packing(classes=[], opened=[0] * len(rooms))
    left = {item: each.count for item, each in enumerate(market.found.items)}
    for column, count in sorted(
        counts, key=lambda each: (-each[1], each[0].pool, sorted(each[0].pattern.items()))
    ):
        most = room_of(column.pool, rooms, packing.opened)
        nodes = count if most is None else min(count, most)
        pattern: Mapping[int, int] = column.pattern
        while nodes > 0 and pattern:
            stage, history = patterns.fill(column.pool, pattern)
            taken = totals(history)
            times = min([nodes, *(left[item] // number for item, number in taken.items())])
            if times and taken:
                packing.classes.append(NodeClass(column.pool, stage, times, history))
                packing.opened[column.pool] += times
                for item, number in taken.items():
                    left[item] -= times * number
                    packing.placed[item, column.pool] += times * number
            nodes -= times
            pattern = {
                item: kept for item, number in pattern.items() if (kept := min(number, left[item]))
            }
            if times == 0 and pattern == dict(taken):
                break
    for pool, room in enumerate(rooms):
        if packing.opened[pool] < room.minimum:
            packing.classes.append(NodeClass(pool, room.empty, room.minimum - packing.opened[pool]))
            packing.opened[pool] = room.minimum
    return packing


def _rest(market: Market, packing: Packing) -> dict[int, Item]:
    placed = dict.fromkeys(range(len(market.found.items)), 0)
    for (item, _), count in packing.placed.items():
        placed[item] += count
    return {
        item: each.times(each.count - placed[item]) for item, each in enumerate(market.found.items)
    }


def _round_up(
    market: Market, whole: Sequence[tuple[Column, int]], solver: Any
) -> list[tuple[Column, int]] | None:
    """Return the cheapest integers of the columns that hold everything, found by a limited
    search.
    """
    left = {item: each.count for item, each in enumerate(market.found.items)}
    known = {item for column, _ in whole for item in column.pattern}
    opened = [0] * len(market.found.rooms)
    for column, count in whole:
        opened[column.pool] += count
        for item, number in column.pattern.items():
            left[item] -= count * number
    highs, infinity = new_program(solver, mip_max_nodes=_NODES), solver.kHighsInf
    items = [item for item in sorted(known) if left[item] > 0]
    row = {item: at for at, item in enumerate(items)}
    for item in items:
        highs.addRow(float(left[item]), infinity, 0, [], [])
    pools = sorted({column.pool for column, _ in whole})
    limit: dict[int, int] = {}
    for pool in pools:
        room = market.found.rooms[pool]
        limit[pool] = len(items) + len(limit)
        upper = infinity if room.maximum is None else float(room.maximum - opened[pool])
        highs.addRow(float(min(0, room.minimum - opened[pool])), upper, 0, [], [])
    shared = dict.fromkeys(limit for pool in pools for limit in market.found.rooms[pool].limits)
    names = [room.name for room in market.found.rooms]
    counts = dict(zip(names, opened, strict=True))
    first = len(items) + len(limit)
    for each in shared:
        highs.addRow(-infinity, float(each.most - each.used(counts)), 0, [], [])
    unit = float(max([cost[0] for cost in market.costs] + [1]))
    for at, (column, _) in enumerate(whole):
        inside = [
            (row[item], float(number))
            for item, number in sorted(column.pattern.items())
            if item in row
        ]
        taken = [
            (first + place, float(each.takes.get(names[column.pool], 0)))
            for place, each in enumerate(shared)
        ]
        taken = [each for each in taken if each[1]]
        rows = [*(place for place, _ in inside), limit[column.pool], *(place for place, _ in taken)]
        values = [*(number for _, number in inside), 1.0, *(takes for _, takes in taken)]
        highs.addCol(market.costs[column.pool][0] / unit, 0.0, infinity, len(rows), rows, values)
        highs.changeColIntegrality(at, solver.HighsVarType.kInteger)
    highs.run()
    solution = highs.getSolution()
    if not solution.value_valid:
        return None
    return [
        (column, count + round(more))
        for (column, count), more in zip(whole, solution.col_value, strict=True)
    ]


def _best_prices(part: ConnectedPools, costs: Sequence[Fraction]) -> Center:
    """Return the prices with the strongest bound of this part, scaled so that no node is worth more
    than it costs.
    """
    if not part.worths:
        return Center()
    certificate, worth = max(part.worths, key=lambda each: each[1].estimate(part.model, costs))
    scales = [costs[pool] / value for pool, value in worth.nodes.items() if value]
    if not scales:
        return Center()
    whole = Fraction(worth.demand) / sum(
        price * part.model.demand[item]
        for item, price in certificate.items.items()
        if item in part.model.demand
    )
    scale = float(min(scales) * whole * SCALE)
    prices = {item: round(float(price) * scale) for item, price in certificate.items.items()}
    rows = {
        pool: [
            round(float(priced.get(at, 0)) * scale)
            for at in range(len(part.model.pools[pool].rows))
        ]
        for pool, priced in certificate.rows.items()
        if pool in part.pools
    }
    return Center(proved=worth.estimate(part.model, costs), prices=prices, rows=rows)
