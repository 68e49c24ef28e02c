"""Row prices of some pools, reused for other pools as upper bounds on the worth of their nodes.

Any row prices of a pool give a valid bound on its nodes (`bound` explains why). Good prices come
from a linear program. Prices of a pool with a similar cost need no program and are nearly as good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dra_planner.sizing.bound.exact import BoundModel

Gains = dict[object, list[tuple[int, int]]]
"""The part of the gain of each item that these prices of rows don't cover."""


class RowPrices(Struct):
    """The last row prices of the pools, as integers in the unit of the items' prices."""

    model: BoundModel
    costs: Sequence[int]
    known: dict[int, list[int]] = {}
    # number of each distinct set of needs in a row
    _needs: dict[frozenset[tuple[int, int]], int] = {}
    _numbers: dict[int, tuple[int, ...]] = {}  # by row of a pool

    def worth(self, pool: int, prices: Mapping[int, int], gains: Gains) -> tuple[int, list[int]]:
        """Return an upper bound on the worth of the pool's nodes at these item prices, and its row
        prices. `gains` caches common parts of many pools.
        """
        rows = self.known.get(pool) or self._of_another(pool)
        each = self.model.pools[pool]
        priced = [(row, price) for row, price in zip(each.rows, rows, strict=True) if price]
        key = tuple(
            (number, price)
            for number, price in zip(self._numbers_of(pool), rows, strict=True)
            if price
        )
        unpaid = gains.get(key)
        if unpaid is None:
            unpaid = gains[key] = [
                (item, left)
                for item, value in prices.items()
                if (left := value - sum(price * row.needs.get(item, 0) for row, price in priced))
                > 0
            ]
        worth = sum(price * row.capacity for row, price in priced)
        for item, left in unpaid:
            if item in each.most:
                worth += left * min(each.most[item], self.model.demand[item])
        return worth, rows

    def _numbers_of(self, pool: int) -> tuple[int, ...]:
        """Return a number for each row of the pool. Rows with equal needs have the same number in
        all pools.
        """
        if pool not in self._numbers:
            needs = (frozenset(row.needs.items()) for row in self.model.pools[pool].rows)
            self._numbers[pool] = tuple(
                self._needs.setdefault(each, len(self._needs)) for each in needs
            )
        return self._numbers[pool]

    def _of_another(self, pool: int) -> list[int]:
        """Return row prices of the pool with the closest cost, with 0 for unknown rows."""
        own = self.model.pools[pool].rows
        near = min(
            self.known,
            key=lambda each: (abs(self.costs[each] - self.costs[pool]), each),
            default=None,
        )
        if near is None:
            return [0] * len(own)
        if self.model.pools[near].rows is own:
            return self.known[near]
        named = dict(
            zip((row.name for row in self.model.pools[near].rows), self.known[near], strict=True)
        )
        return [named.get(row.name, 0) for row in own]
