"""Column generation: the cheapest fractional mix of filled nodes, and a bound from its prices.

    variables   x_pa ≥ 0 nodes of pool p that are filled with pattern a
    demand      Σ a_i·x_pa ≥ d_i                      (dual: the price π of an item)
    limits      minimum_p ≤ Σ_a x_pa ≤ maximum_p      (an empty node is a pattern too)

Each round evaluates nodes of every pool at the prices π. A node that is worth more than it costs
becomes a column, and an upper bound on a node's worth is a certificate. The program can stop after
any round, with a bound that holds. Prices are chosen between the program's and the best ones so
far, so that they don't oscillate (Wentges' smoothing).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from dra_planner.records import equality
from dra_planner.sizing.bound.exact import BoundModel, Certificate, Worth
from dra_planner.sizing.bound.node_program import SCALE, NodeProgram
from dra_planner.sizing.bound.pricing import Pattern, Pricer, Task
from dra_planner.sizing.bound.reused_prices import Gains, RowPrices
from dra_planner.sizing.bound.solver import new_program

_SHORT = 1e4  # cost of a pending item, in multiples of the most expensive node's cost
_QUICK_STEPS, _MOST_STEPS = 120, 6_000
_SMOOTHING = 0.5
# number of rounds without enough progress before the bound is computed
_STALLED, _PROGRESS = 3, 1e-3
_LITTLE = 1e-6
_MOSTLY = 0.7  # fraction of a node that is rounded up to a whole node
_MOST_DIVES = 100  # number of programs that are solved for items that don't fit on whole nodes
# number of pools priced in a round, if there are at least this many pools
_MANY, _MOST_A_ROUND = 100, 24
_FULL = 8  # after this number of rounds, all pools are priced, and the bound is computed
_LONGEST_REST = 8  # number of rounds in which a pool that repeatedly had no result isn't priced


@equality(unhashed=("pattern",))
class Column(Struct, frozen=True):
    """A number of nodes of a pool, all filled with one pattern. `nodes` can be a fraction."""

    pool: int
    pattern: Pattern
    nodes: float


class Generated(Struct, frozen=True):
    """The resulting mix, its cost, and the strongest certificate of all rounds with its bound."""

    columns: tuple[Column, ...]
    cost: float
    certificate: Certificate
    worth: Worth


@equality(unhashed=("prices", "rows"))
class Center(Struct, frozen=True):
    """Initial prices of items and of rows by pool, and the bound that these prices prove.

    Other pools can use the rows' prices.
    """

    proved: float = 0.0
    prices: Mapping[int, int] = {}
    rows: Mapping[int, list[int]] = {}


class _Offers(Struct):
    """A pricing round: upper bounds on the worth of a node of each pool, and the unfinished
    searches.
    """

    prices: Mapping[int, int]
    upper: dict[int, int] = {}
    rows: dict[int, list[int]] = {}  # row prices that prove these upper bounds
    solved: set[int] = set()  # pools to which these prices apply
    tasks: dict[int, tuple[Task, Mapping[int, float]]] = {}
    gains: Gains = {}
    is_new: bool = False

    def promise(self, pool: int, costs: Sequence[int]) -> float:
        """Return the maximum worth of a node of the pool, divided by the node's cost."""
        return self.upper[pool] / max(1, costs[pool])


@equality(unhashed=("prices", "rows"))
class _Proved(Struct, frozen=True):
    """The bound that a round's prices prove."""

    cost: float
    prices: Mapping[int, int]
    rows: Mapping[int, Sequence[int]]
    worth: Worth


class ColumnProgram:
    """The program over the known columns, for the pools and items of one component of a model."""

    def __init__(
        self,
        model: BoundModel,
        pools: Sequence[int],
        costs: Sequence[int],
        pricer: Callable[[int], Pricer],
        solver: Any,
    ) -> None:
        self._model, self._pools, self._costs, self._solver = model, list(pools), costs, solver
        self._pricer = pricer
        self._pricers: dict[int, Pricer] = {}
        self._programs: dict[int, NodeProgram] = {}
        self._awake: set[int] = set()  # pools that have a column
        # number of rounds to skip a pool: the previous number, and the remaining one
        self._rests: dict[int, int] = {}
        self._resting: dict[int, int] = {}
        self._last_rows = RowPrices(model, costs)  # row prices of pools that were priced
        self._priced = 0
        self._items = sorted({item for pool in pools for item in model.pools[pool].most})
        self._row = {item: at for at, item in enumerate(self._items)}
        self._unit = float(max([costs[pool] for pool in pools] + [1]))
        self._columns: list[tuple[int, Pattern]] = []
        self._seen: set[tuple[int, tuple[tuple[int, int], ...]]] = set()
        self._highs = highs = new_program(solver)
        infinity = solver.kHighsInf
        for item in self._items:
            highs.addRow(float(model.demand[item]), infinity, 0, [], [])
        # rows of the pools that might need more or fewer nodes
        self._limit: dict[int, int] = {}
        wanted = sum(model.demand[item] for item in self._items)
        for pool in pools:
            each = model.pools[pool]
            if each.minimum or each.maximum < wanted:
                self._limit[pool] = len(self._items) + len(self._limit)
                highs.addRow(float(each.minimum), float(each.maximum), 0, [], [])
        self._shared = [
            (len(self._items) + len(self._limit) + at, limit)
            for at, limit in enumerate(model.limits)
        ]
        for _, limit in self._shared:
            highs.addRow(-infinity, float(limit.most), 0, [], [])
        for item in self._items:
            highs.addCol(_SHORT, 0.0, infinity, 1, [self._row[item]], [1.0])
        self._infinity = infinity
        self._paid: dict[int, int] = {}  # cost of a node, including the price of its pool's limits

    def add(self, pool: int, pattern: Mapping[int, int]) -> bool:
        """Add a column, and return whether it's new. Items that aren't in the model are ignored."""
        kept = {item: count for item, count in pattern.items() if item in self._row}
        key = (pool, tuple(sorted(kept.items())))
        if key in self._seen:
            return False
        self._seen.add(key)
        self._columns.append((pool, kept))
        self._awake.add(pool)
        taken = [
            (row, float(takes)) for row, limit in self._shared if (takes := limit.takes.get(pool))
        ]
        taken += [(self._limit[pool], 1.0)] if pool in self._limit else []
        rows = [*(self._row[item] for item in kept), *(row for row, _ in taken)]
        values = [*(float(count) for count in kept.values()), *(takes for _, takes in taken)]
        self._highs.addCol(
            self._costs[pool] / self._unit, 0.0, self._infinity, len(rows), rows, values
        )
        return True

    def generate(self, center: Center, rounds: int, most: int, gap: float) -> Generated:
        """Return the cheapest mix after this number of rounds, or when it costs at most `gap` more
        than the bound.

        Once more than `most` nodes were priced, a last round improves the bound.

        Most rounds price nodes at a point between the best certificate so far and the program's own
        prices, because the program's prices jump from round to round and attract useless columns.
        When the cost stalls, a round at the program's own prices either finds a column that helps
        or proves the cost.
        """
        if len(self._pools) > _MANY:
            self._last_rows.known.update(center.rows)
        for pool in self._pools:
            if self._model.pools[pool].minimum:
                self.add(pool, {})
        best, stalled = _Proved(center.proved, center.prices, {}, Worth(0, {})), 0
        cost, duals = self._solve()
        for number in range(1, rounds + 1):
            if self._priced > most:
                stalled = max(stalled, _STALLED)  # a last round, which proves the bound
            proves = stalled >= _STALLED
            prices = duals if proves else self._between(best.prices, duals)
            is_full = proves or not number % _FULL
            offers = self._price(prices, duals, is_full=is_full)
            is_new = offers.is_new
            if proves:
                is_new |= self._prove(offers, duals)
            proved = self._proved(prices, offers) if is_full else best
            if proved.cost > best.cost:
                best = proved
            if proves and (not is_new or self._priced > most):
                break
            before = cost
            cost, duals = self._solve()
            stalled = stalled + 1 if cost > before * (1 - _PROGRESS) and not proves else 0
            if not is_new:
                stalled = _STALLED
            if cost <= best.cost * (1 + gap):
                break
        rows = {
            pool: {at: price for at, price in enumerate(each) if price}
            for pool, each in best.rows.items()
        }
        return Generated(self._mix(), cost, Certificate(items=best.prices, rows=rows), best.worth)

    def _between(self, center: Mapping[int, int], duals: Mapping[int, int]) -> dict[int, int]:
        return {
            item: round(_SMOOTHING * center.get(item, 0) + (1 - _SMOOTHING) * duals[item])
            for item in self._items
        }

    def _solve(self) -> tuple[float, dict[int, int]]:
        self._highs.run()
        duals = list(self._highs.getSolution().row_dual)
        scale = self._unit * SCALE
        self._paid = {
            pool: self._costs[pool] * SCALE - round(self._limit_dual(pool, duals) * scale)
            for pool in self._pools
        }
        cost = self._highs.getObjectiveValue() * self._unit
        return cost, {item: max(0, round(duals[row] * scale)) for item, row in self._row.items()}

    def _limit_dual(self, pool: int, duals: Sequence[float]) -> float:
        """Return the dual price of the limits that a node of the pool uses, including the pool's
        own.
        """
        own = duals[self._limit[pool]] if pool in self._limit else 0.0
        return own + sum(duals[row] * limit.takes.get(pool, 0) for row, limit in self._shared)

    def _price(
        self, prices: Mapping[int, int], duals: Mapping[int, int], *, is_full: bool
    ) -> _Offers:
        """Search briefly for a node of every active pool that is worth more than it costs.

        With many pools, only the most promising ones are searched. Upper bounds for the others
        follow from another pool's row prices.
        """
        offers = _Offers(prices)
        ready = (
            list(self._pools)
            if is_full
            else [each for each in self._awake if not self._resting.get(each)]
        )
        if (
            len(ready) > (_MOST_A_ROUND if len(self._pools) > _MANY else _MANY)
            and self._last_rows.known
        ):
            for pool in ready:
                self._borrow(pool, offers)
            ready = heapq.nlargest(
                _MOST_A_ROUND,
                ready,
                key=lambda pool: (
                    round(offers.promise(pool, self._costs), 2),
                    -self._costs[pool],
                    -pool,
                ),
            )
        chosen = set(ready)
        for pool in self._pools:
            if pool not in chosen:
                self._resting[pool] = max(0, self._resting.get(pool, 0) - 1)
        for pool in sorted(ready, key=lambda pool: (pool not in self._awake, pool)):
            limit = min(self._costs[pool] * SCALE, self._paid[pool])
            if is_full and offers.rows:
                self._borrow(pool, offers)
                if offers.upper[pool] <= limit:
                    self._rest(pool, longer=True)
                    continue
            self._solve_node(pool, offers)
            before, offers.is_new = offers.is_new, False
            if pool in offers.tasks:
                self._search(pool, offers, duals, _QUICK_STEPS)
            self._rest(pool, longer=not offers.is_new)
            offers.is_new |= before
        return offers

    def _solve_node(self, pool: int, offers: _Offers) -> None:
        """Find row prices that give the lowest upper bound on the worth of the pool's nodes."""
        self._priced += 1
        if pool not in self._programs:
            self._pricers[pool] = self._pricer(pool)
            self._programs[pool] = NodeProgram(self._pricers[pool], self._solver)
        start, rows = self._programs[pool].solve(offers.prices)
        task = self._pricers[pool].task(offers.prices, rows)
        offers.upper[pool] = min(task.upper, offers.upper.get(pool, task.upper))
        if task.upper == offers.upper[pool]:
            offers.rows[pool] = rows
        self._last_rows.known[pool] = rows
        offers.solved.add(pool)
        if task.upper > min(self._costs[pool] * SCALE, self._paid[pool]):
            offers.tasks[pool] = task, start

    def _borrow(self, pool: int, offers: _Offers) -> None:
        """Bound the worth of the pool's nodes with row prices of an earlier round.

        The prices are the pool's own, or those of the pool with the closest cost.
        """
        upper, rows = self._last_rows.worth(pool, offers.prices, offers.gains)
        if upper < offers.upper.get(pool, upper + 1):
            offers.upper[pool], offers.rows[pool] = upper, rows

    def _rest(self, pool: int, *, longer: bool) -> None:
        self._rests[pool] = min(_LONGEST_REST, 2 * self._rests.get(pool, 0) + 1) if longer else 0
        self._resting[pool] = self._rests[pool]

    def _prove(self, offers: _Offers, duals: Mapping[int, int]) -> bool:
        """Search the pools that determine the bound until the highest worth is exact.

        Return whether a column was added.
        """
        offers.is_new = False
        is_early = len(self._pools) > _MANY and self._priced < 20 * _MOST_A_ROUND
        most = len(offers.solved) + (_MOST_A_ROUND if is_early else len(self._pools))
        while offers.upper and len(offers.solved) <= most:
            pool = max(offers.upper, key=lambda each: (offers.promise(each, self._costs), each))
            if offers.upper[pool] <= self._costs[pool] * SCALE:
                break
            if pool not in offers.solved:
                self._solve_node(pool, offers)
            elif pool not in offers.tasks or not self._search(pool, offers, duals, _MOST_STEPS):
                break
        return offers.is_new

    def _search(self, pool: int, offers: _Offers, duals: Mapping[int, int], steps: int) -> bool:
        """Search one pool, and return whether its most valuable node is now known."""
        task, start = offers.tasks[pool]
        cost = self._costs[pool] * SCALE
        priced = self._pricers[pool].price(task, start, cost // 10_000, steps, steps // 8)
        offers.upper[pool] = min(offers.upper[pool], priced.upper)
        if priced.is_settled:
            del offers.tasks[pool]
        if (
            sum(duals[item] * count for item, count in priced.pattern.items())
            > self._paid[pool] + cost // 10**6
        ):
            offers.is_new |= self.add(pool, priced.pattern)
        return priced.is_settled

    def _proved(self, prices: Mapping[int, int], offers: _Offers) -> _Proved:
        demand = sum(price * self._model.demand[item] for item, price in prices.items())
        worth = Worth(demand, dict(offers.upper))
        return _Proved(worth.estimate(self._model, self._costs), prices, offers.rows, worth)

    def _mix(self) -> tuple[Column, ...]:
        values = list(self._highs.getSolution().col_value)[len(self._items) :]
        return tuple(
            Column(pool, pattern, nodes)
            for (pool, pattern), nodes in zip(self._columns, values, strict=True)
            if nodes > 1e-7 and pattern
        )

    def dive(self) -> list[tuple[Column, int]]:
        """Return whole nodes: first of the cheapest mix, then of the mix for the rest, and so on.

        If a mix has no whole node, its largest fraction is rounded up. The program can't be used
        afterwards.
        """
        left = [self._model.demand[item] for item in self._items]
        opened = dict.fromkeys(self._pools, 0)
        taken: list[tuple[Column, int]] = []
        for _ in range(_MOST_DIVES):
            if not any(left):
                break
            self._leave(left, opened)
            self._highs.run()
            values = list(self._highs.getSolution().col_value)[len(self._items) :]
            used = [
                at
                for at, (_, pattern) in enumerate(self._columns)
                if pattern and values[at] > _LITTLE
            ]
            if not used:
                break
            enough = min(_MOSTLY, max(values[at] for at in used))
            for at in used:
                pool, pattern = self._columns[at]
                nodes = int(values[at] + 1 - enough + _LITTLE)
                if not nodes or not any(left[self._row[item]] for item in pattern):
                    continue
                taken.append((Column(pool, pattern, float(nodes)), nodes))
                opened[pool] += nodes
                for item, count in pattern.items():
                    left[self._row[item]] = max(0, left[self._row[item]] - nodes * count)
        return taken

    def _leave(self, left: Sequence[int], opened: Mapping[int, int]) -> None:
        """Set the demand to the items that remain, within the remaining nodes."""
        for row, count in enumerate(left):
            self._highs.changeRowBounds(row, float(count), self._infinity)
        for pool, row in self._limit.items():
            each = self._model.pools[pool]
            free = max(0, each.maximum - opened[pool])
            self._highs.changeRowBounds(
                row, float(max(0, each.minimum - opened[pool])), float(free)
            )
        for row, limit in self._shared:
            used = sum(takes * opened.get(pool, 0) for pool, takes in limit.takes.items())
            self._highs.changeRowBounds(row, -self._infinity, float(max(0, limit.most - used)))
