"""Prices of rows that nodes of some pools had, lent to other pools: what no node of those is worth
more than.

Whatever the prices of a pool's rows, what they say about its nodes is true (`bound` says why). Good
ones come from a linear program; those of a pool near in price cost none, and say nearly as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dra_planner.sizing.bound.exact import BoundModel

Gains = dict[object, list[tuple[int, int]]]
"""What rows do not pay for, of items, by the rows' prices."""


@dataclass(slots=True)
class RowPrices:
    """The last prices of the rows of pools, integers in the unit of the items' prices."""

    model: BoundModel
    costs: Sequence[int]
    known: dict[int, list[int]] = field(default_factory=dict)
    # needs of a row → their number
    _needs: dict[frozenset[tuple[int, int]], int] = field(default_factory=dict)
    _numbers: dict[int, tuple[int, ...]] = field(default_factory=dict)  # of the rows of a pool

    def worth(self, pool: int, prices: Mapping[int, int], gains: Gains) -> tuple[int, list[int]]:
        """Return what no node of the pool is worth more than at these prices of items, and the
        prices of rows that say so; `gains` remembers what is the same for many pools.
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
        """Return a number for each row of the pool; rows with equal needs have the same, in all
        pools.
        """
        if pool not in self._numbers:
            needs = (frozenset(row.needs.items()) for row in self.model.pools[pool].rows)
            self._numbers[pool] = tuple(
                self._needs.setdefault(each, len(self._needs)) for each in needs
            )
        return self._numbers[pool]

    def _of_another(self, pool: int) -> list[int]:
        """Return the prices of this pool's rows as a pool near it in price has them, 0 where none
        is known.
        """
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
