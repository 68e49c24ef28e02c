"""The linear program of one node: a fractional pattern, and prices of the node's rows, for given
values of items.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_planner.sizing.bound.pricing import Pricer
from dra_planner.sizing.bound.solver import new_program

SCALE = 2**24
"""Prices are integers in this fraction of a micro-dollar (or of a node, if prices are unknown)."""


class NodeProgram:
    """The linear program of one node of a pool, reused for different item prices."""

    def __init__(self, pricer: Pricer, solver: Any) -> None:
        pool = pricer.pool
        self.items = sorted(item for item in pool.most if pricer.demand[item])
        self._capacity = [row.capacity for row in pool.rows]
        self._highs = new_program(solver)
        for item in self.items:
            self._highs.addCol(
                0.0, 0.0, float(min(pool.most[item], pricer.demand[item])), 0, [], []
            )
        for row in pool.rows:
            inside = [at for at, item in enumerate(self.items) if row.needs.get(item)]
            shares = [row.needs[self.items[at]] / row.capacity for at in inside]
            self._highs.addRow(-solver.kHighsInf, 1.0, len(inside), inside, shares)
        self._highs.changeObjectiveSense(solver.ObjSense.kMaximize)

    def solve(self, values: Mapping[int, int]) -> tuple[dict[int, float], list[int]]:
        """Return a fractional pattern and integer prices of rows for these values of items."""
        count = len(self.items)
        costs = [values.get(item, 0) / SCALE for item in self.items]
        self._highs.changeColsCost(count, list(range(count)), costs)
        self._highs.run()
        solution = self._highs.getSolution()
        prices = [
            max(0, round(dual * SCALE / capacity))
            for dual, capacity in zip(solution.row_dual, self._capacity, strict=True)
        ]
        return {
            item: x for item, x in zip(self.items, solution.col_value, strict=True) if x > 1e-7
        }, prices
