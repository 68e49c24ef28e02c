"""The compact linear relaxation, solved by HiGHS when it is installed: prices for certificates that
area bounds miss.

    variables   y_p nodes of pool p, x_ip items i on pool p
    demand      Σ_p x_ip ≥ d_i                        (dual: the price π of an item)
    rows        Σ_i needs_ri·x_ip ≤ capacity_r·y_p    (dual: the price λ of a row)
    most        x_ip ≤ most_ip·y_p
    limits      Σ_p takes_lp·y_p ≤ most_l               (for what pools share)

The solver works in floating point and isn't trusted: its duals become rational prices, and `bound`
derives from them an exact bound, which is never too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct, field

from dra_planner.sizing.bound.exact import BoundModel, Certificate
from dra_planner.sizing.bound.solver import new_program

_DENOMINATOR = 2**100
_ITERATIONS = 200_000
# maximum nodes of the integer search: a node limit, unlike a time limit, makes all runs identical
_NODES = 300

MOST_WHOLE_COLUMNS = 700
"""Approximate number of items times pools up to which integers are searched."""


class _Rows(Struct):
    """Rows of the constraint matrix, in compressed form."""

    lower: list[float] = []
    starts: list[int] = field(default_factory=lambda: [0])
    columns: list[int] = []
    values: list[float] = []

    def add(self, lower: float, entries: list[tuple[int, float]]) -> int:
        self.lower.append(lower)
        for column, value in entries:
            self.columns.append(column)
            self.values.append(value)
        self.starts.append(len(self.columns))
        return len(self.lower) - 1


class _Program(Struct):
    """The matrix of a model, and the origins of its rows."""

    rows: _Rows
    demand: dict[int, int]
    capacity: dict[tuple[int, int], int]
    short: dict[int, int]
    placed: dict[tuple[int, int], int]
    columns: int


class Relaxation:
    """The linear programs of one model. `solver` is the module highspy."""

    def __init__(self, model: BoundModel, solver: Any) -> None:
        self.model = model
        self._solver = solver
        self._program = _build(model)

    def cheapest(
        self, costs: list[float]
    ) -> tuple[Certificate, dict[tuple[int, int], float]] | None:
        """Return prices that prove the minimum cost of any plan's nodes, and the cheapest plan's
        fractional number of each item on each pool (item, pool).
        """
        solution = self._run(
            costs, [float(each.maximum) for each in self.model.pools], shortage=False
        )
        return (
            None
            if solution is None
            else (self._certificate(list(solution.row_dual)), self._placed(solution))
        )

    def least_of(self, pool: int) -> Certificate | None:
        """Return prices that prove the minimum nodes of one pool, with every other at its
        maximum.
        """
        upper = [float(each.maximum) for each in self.model.pools]
        upper[pool] = self._solver.kHighsInf
        return self._solve(
            [float(index == pool) for index in range(len(upper))], upper, shortage=False
        )

    def shortage(self) -> Certificate | None:
        """Return prices that prove that the demand exceeds the pools, or None if it doesn't."""
        upper = [float(each.maximum) for each in self.model.pools]
        return self._solve([0.0] * len(upper), upper, shortage=True)

    @property
    def columns(self) -> int:
        """The number of variables of a program."""
        return self._program.columns

    def within(
        self, costs: list[float], least: list[int], most: list[int]
    ) -> tuple[Certificate, list[float]] | None:
        """Return prices that prove the minimum cost of fleets with these node counts, and the
        fractional nodes of the cheapest one. None if there is no such fleet.
        """
        solution = self._run(costs, [float(each) for each in most], shortage=False, lower=least)
        if solution is None:
            return None
        return self._certificate(list(solution.row_dual)), list(solution.col_value)[: len(least)]

    def shortage_within(self, least: list[int], most: list[int]) -> Certificate | None:
        """Return prices that prove that fleets with these node counts can't hold the demand, if
        they can't.
        """
        return self._solve(
            [0.0] * len(most), [float(each) for each in most], shortage=True, lower=least
        )

    def whole(self, costs: list[float]) -> dict[tuple[int, int], float] | None:
        """Return a plan's integer number of each item on each pool (item, pool), within maximums.

        It's the cheapest that a limited search finds, or None if it finds none or isn't worth it.
        """
        if self._program.columns > MOST_WHOLE_COLUMNS:
            return None
        upper = [float(each.maximum) for each in self.model.pools]
        solution = self._run(costs, upper, shortage=False, whole=True)
        return None if solution is None else self._placed(solution)

    def _placed(self, solution: Any) -> dict[tuple[int, int], float]:
        values = list(solution.col_value)
        return {
            key: value
            for key, column in self._program.placed.items()
            if (value := values[column]) > 0
        }

    def _solve(
        self, costs: list[float], upper: list[float], *, shortage: bool, lower: Sequence[int] = ()
    ) -> Certificate | None:
        solution = self._run(costs, upper, shortage=shortage, lower=lower)
        return None if solution is None else self._certificate(list(solution.row_dual))

    def _run(
        self,
        costs: list[float],
        upper: list[float],
        *,
        shortage: bool,
        whole: bool = False,
        lower: Sequence[int] = (),
    ) -> Any | None:
        program, pools = self._program, len(self.model.pools)
        infinity = self._solver.kHighsInf
        lp = self._solver.HighsLp()
        lp.num_col_, lp.num_row_ = program.columns, len(program.rows.lower)
        others = program.columns - pools
        cost, limit = [*costs, *[0.0] * others], [*upper, *[infinity] * others]
        for column in program.short.values():
            cost[column], limit[column] = (1.0, infinity) if shortage else (0.0, 0.0)
        lp.col_cost_, lp.col_upper_ = cost, limit
        least = lower or [each.minimum for each in self.model.pools]
        lp.col_lower_ = [*map(float, least), *[0.0] * others]
        lp.row_lower_, lp.row_upper_ = program.rows.lower, [infinity] * len(program.rows.lower)
        lp.a_matrix_.format_ = self._solver.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = program.rows.starts
        lp.a_matrix_.index_ = program.rows.columns
        lp.a_matrix_.value_ = program.rows.values
        highs = new_program(self._solver, simplex_iteration_limit=_ITERATIONS)
        if whole:
            lp.integrality_ = [self._solver.HighsVarType.kInteger] * lp.num_col_
            highs.setOptionValue("mip_max_nodes", _NODES)
        highs.passModel(lp)
        highs.run()
        solution = highs.getSolution()
        if whole:
            return solution if solution.value_valid else None
        return (
            solution if highs.getModelStatus() == self._solver.HighsModelStatus.kOptimal else None
        )

    def _certificate(self, duals: list[float]) -> Certificate:
        rows: dict[int, dict[int, Fraction]] = {}
        for (pool, position), row in self._program.capacity.items():
            price = _rational(duals[row] / self.model.pools[pool].rows[position].capacity)
            if price > 0:
                rows.setdefault(pool, {})[position] = price
        items = {item: _rational(duals[row]) for item, row in self._program.demand.items()}
        return Certificate(
            items={item: price for item, price in items.items() if price > 0}, rows=rows
        )


def _build(model: BoundModel) -> _Program:
    rows, column = _Rows(), len(model.pools)
    placed: dict[tuple[int, int], int] = {}
    short: dict[int, int] = {}
    for item in sorted(model.demand):
        for pool in model.pools_of(item):
            placed[item, pool] = column
            column += 1
        short[item] = column
        column += 1
    demand = {
        item: rows.add(
            float(model.demand[item]),
            [(placed[item, pool], 1.0) for pool in model.pools_of(item)] + [(short[item], 1.0)],
        )
        for item in sorted(model.demand)
    }
    capacity: dict[tuple[int, int], int] = {}
    for index, each in enumerate(model.pools):
        for position, row in enumerate(each.rows):
            entries = [
                (placed[item, index], -need / row.capacity)
                for item, need in sorted(row.needs.items())
                if (item, index) in placed
            ]
            if entries:
                capacity[index, position] = rows.add(0.0, [(index, 1.0), *entries])
        for item, most in sorted(each.most.items()):
            if (item, index) in placed:
                rows.add(0.0, [(index, float(most)), (placed[item, index], -1.0)])
    for limit in model.limits:
        rows.add(
            -float(limit.most),
            [(pool, -float(takes)) for pool, takes in sorted(limit.takes.items())],
        )
    return _Program(rows, demand, capacity, short, placed, column)


def _rational(value: float) -> Fraction:
    """Return the price as a nonnegative fraction. Rounding weakens the bound, but keeps it
    valid.
    """
    return Fraction(max(0, round(value * _DENOMINATOR)), _DENOMINATOR)
