"""Search for the best groups by column generation.

The groups whose nodes are known are the columns of a program that mixes them (`group_program`). Its
prices show which changes of the groups in use would save money: adding, removing, or exchanging a
work. The changed groups are sized and become columns, until no change saves money. Then the program
chooses whole groups. Each move of an assignment has to lower its price, but a new column doesn't.
So this search also finds changes that help only in combination.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import floor
from operator import add, sub
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.placement.assignment import STEPS_OF_MOVE, Assignment
from dra_planner.placement.group_program import GroupPrices, GroupProgram
from dra_planner.placement.workload_groups import WorkloadGroup

_NEAR: Final = 1e-6  # share by which the cost of a group in use can exceed its value
_LITTLE: Final = 1e-6  # the minimum saving, as a share of the most expensive node
_ROUNDED: Final = 1e-9  # tolerance for sums of values in a different order


def search_columns(start: Assignment, solver: Any) -> Assignment:
    """Return the best assignment found until the steps are used up: `start`, or a cheaper one."""
    search, best = _ColumnSearch(start, solver), start
    while start.sizes.steps < start.steps:
        chosen = search.run()
        if chosen is None:
            break
        found = replace(best, groups=chosen)
        found.improve()
        if found.cost >= best.cost:
            break
        best = found
    return best


class _ColumnSearch:
    def __init__(self, start: Assignment, solver: Any) -> None:
        self._sizes, self._steps = start.sizes, start.steps
        self._costs = [cost[0] for cost in start.pools.costs]
        self._most = float(max(self._costs) or 1)
        self._program = GroupProgram(start, solver)
        works = self._sizes.needs.works
        self._of_pool = [
            [at for at, work in enumerate(works) if pool in work.needs]
            for pool in range(len(self._costs))
        ]
        for pool, fitting in enumerate(self._of_pool):
            for work in fitting:
                self._try(WorkloadGroup(pool, frozenset((work,))), None)

    def run(self) -> list[WorkloadGroup] | None:
        """Return the cheapest whole groups, once no change of the groups in use saves money."""
        for group, nodes in list(self._sizes.known().items()):
            self._program.add(group, nodes)
        prices, is_new = self._program.prices(), True
        while is_new and self._sizes.steps < self._steps:
            is_new = False
            for changed in self._changes(prices):
                most = self._affordable(changed, prices)
                if most is not None and most < self._sizes.least(changed):
                    continue
                if self._sizes.steps >= self._steps:
                    break
                is_new |= self._try(changed, most)
            prices = self._program.prices()
        return self._program.best_groups(prices)

    def _changes(self, prices: GroupPrices) -> Iterator[WorkloadGroup]:
        """Yield unknown groups that differ in one work from a group in use."""
        seen = set(self._program.nodes)
        for group in [each for each in self._program.nodes if self._is_in_use(each, prices)]:
            for changed in self._neighbors(group, prices):
                if changed not in seen:
                    seen.add(changed)
                    yield changed

    def _is_in_use(self, group: WorkloadGroup, prices: GroupPrices) -> bool:
        """Return whether the mix uses a group, or could use it without costing more."""
        cost = self._program.nodes[group] * prices.nodes[group.pool]
        return cost - prices.value(group) <= cost * _NEAR

    def _neighbors(self, group: WorkloadGroup, prices: GroupPrices) -> Iterator[WorkloadGroup]:
        """Yield groups that differ in one work.

        Skip a group if its sums show that its nodes cost more than its value.
        """
        others = [work for work in self._of_pool[group.pool] if work not in group.works]
        rows, value = self._sizes.pool_rows(group.pool), prices.value(group)
        pays, sums = partial(_pays, rows.limits, prices.nodes[group.pool]), rows.sums(group.works)
        more = [(work, prices.works[work], rows.works[work].sums) for work in others]
        for work, worth, amounts in more:
            if pays(value + worth, map(add, sums, amounts)):
                yield group.with_works((work,))
        for gone in sorted(group.works) if len(group.works) > 1 else ():
            rest, left = group.without_works((gone,)), value - prices.works[gone]
            kept = list(map(sub, sums, rows.works[gone].sums))
            if pays(left, kept):
                yield rest
            for work, worth, amounts in more:
                if pays(left + worth, map(add, kept, amounts)):
                    yield rest.with_works((work,))

    def _affordable(self, group: WorkloadGroup, prices: GroupPrices) -> int | None:
        """Return the largest number of nodes with which a group saves money, or None if any number
        does.
        """
        value, price = prices.value(group) - _LITTLE, prices.nodes[group.pool]
        if price > _LITTLE:
            return floor(value / price)
        return None if value > 0 else -1

    def _try(self, group: WorkloadGroup, most: int | None) -> bool:
        """Add a group if it needs at most this number of nodes."""
        self._sizes.steps += STEPS_OF_MOVE
        nodes = self._sizes.nodes(group, most)
        return nodes is not None and self._program.add(group, nodes)


def _pays(limits: Sequence[int], price: float, value: float, sums: Iterable[int]) -> bool:
    """Return whether the nodes that these sums need might cost less than the value."""
    if value < _LITTLE - _ROUNDED:
        return False
    if price <= _LITTLE:
        return True
    nodes = floor((value - _LITTLE + _ROUNDED) / price)
    return all(total <= nodes * limit for total, limit in zip(sums, limits, strict=True))
