"""The maximum total price of the items on one node of a pool: branch and bound, in integers.

    maximum of Σ value·n, if every row holds (cpu, memory, devices, …), n ≤ most, and the node
    accepts the pods

Prices of the rows λ, from a linear program that isn't trusted, bound the rest at every step:
no node is worth more than Σ λ·capacity + Σ max(0, value − λ·needs)·most. The upper bound is valid
for any prices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from dra_planner.records import equality
from dra_planner.sizing.bound.exact import BoundPool

_SHIFT = 40  # number of bits for the value per unit of a row, rounded up

Pattern = dict[int, int]
"""Number of each item on one node."""


@equality(unhashed=("pattern",))
class Priced(Struct, frozen=True):
    """No node is worth more than `upper`. `pattern`, which fits the node, is worth `worth`."""

    upper: int
    worth: int
    pattern: Pattern
    is_settled: bool  # if set, a longer search would return the same result


class _Choice(Struct, frozen=True):
    """One item: its maximum number, and its needs in plain rows and in all rows."""

    item: int
    most: int
    plain: tuple[tuple[int, int], ...]
    needs: tuple[tuple[int, int], ...]


class Task(Struct):
    """Choices with their values, before and after subtracting the price of their needs, and the
    resulting bound.
    """

    choices: list[_Choice]
    values: list[int]
    reduced: list[int]
    upper: int
    priced: int  # the price of all resources of the node


class Pricer:
    """Finds the most valuable node of one pool.

    The first `plain` rows are the node's resources. The others follow from them for integers.
    `takes` returns whether the allocator can put a pattern on such a node.
    """

    def __init__(
        self,
        pool: BoundPool,
        plain: int,
        demand: Mapping[int, int],
        takes: Callable[[Pattern], bool],
    ) -> None:
        self.pool, self.demand, self._takes = pool, demand, takes
        self._capacity = [row.capacity for row in pool.rows]
        self._plain = self._capacity[:plain]
        choices = []
        for item, most in pool.most.items():
            needs = tuple(
                (at, row.needs[item]) for at, row in enumerate(pool.rows) if row.needs.get(item)
            )
            own = tuple((at, need) for at, need in needs if at < plain)
            share = max((need / self._capacity[at] for at, need in own), default=0.0)
            if demand[item]:
                choices.append((-share, item, _Choice(item, min(most, demand[item]), own, needs)))
        self._choices = [choice for _, _, choice in sorted(choices, key=lambda each: each[:2])]

    def task(self, values: Mapping[int, int], prices: Sequence[int]) -> Task:
        """Return the task: values of items and prices of rows, both integers in one unit."""
        wanted = [choice for choice in self._choices if values.get(choice.item, 0) > 0]
        reduced = []
        priced = upper = sum(map(int.__mul__, prices, self._capacity))
        for choice in wanted:
            left = values[choice.item]
            for row, need in choice.needs:
                left -= prices[row] * need
            reduced.append(left)
            if left > 0:
                upper += left * choice.most
        return Task(wanted, [values[choice.item] for choice in wanted], reduced, upper, priced)

    def price(
        self, task: Task, start: Mapping[int, float], tolerance: int, limit: int, most_refused: int
    ) -> Priced:
        """Return the most valuable node, to within `tolerance`, or the best result after `limit`
        steps.

        `start` is an initial fractional pattern. `most_refused` limits the number of rejected
        patterns.
        """
        search = _Search(task, len(self._plain), self._takes, tolerance, (limit, most_refused))
        search.offer(_greedy(task, self._plain, start))
        search.descend(0, 0, list(self._plain), task.priced)
        return search.result()


def _greedy(task: Task, plain: Sequence[int], start: Mapping[int, float]) -> list[int]:
    """Return counts by choice: the fractional pattern rounded down, then its largest remainders,
    then everything that still fits.
    """
    capacity, counts = list(plain), [0] * len(task.choices)

    def put(at: int, wanted: int) -> None:
        choice = task.choices[at]
        count = min(wanted, choice.most - counts[at])
        for row, need in choice.plain:
            if capacity[row] < count * need:
                count = capacity[row] // need
        if count > 0:
            counts[at] += count
            for row, need in choice.plain:
                capacity[row] -= count * need

    fractions = [
        (start[choice.item], at) for at, choice in enumerate(task.choices) if choice.item in start
    ]
    for fraction, at in fractions:
        put(at, int(fraction + 1e-6))
    for fraction, at in sorted(fractions, key=lambda each: (-(each[0] % 1), each[1])):
        put(at, 1 if fraction % 1 > 1e-6 else 0)
    gains = [-reduced / value for reduced, value in zip(task.reduced, task.values, strict=True)]
    for at in sorted(range(len(gains)), key=gains.__getitem__):
        put(at, task.choices[at].most)
    return counts


class _Search:
    """Depth-first search with large items first, and high counts of an item before low ones."""

    def __init__(
        self,
        task: Task,
        rows: int,
        takes: Callable[[Pattern], bool],
        tolerance: int,
        limits: tuple[int, int],
    ) -> None:
        self._task, self._takes = task, takes
        self._tolerance, self._limits = tolerance, limits
        self._counts = [0] * len(task.choices)
        self._by_price = _suffix_sums(task)
        self._by_row = _suffix_per_unit(task, rows)
        self._best, self._refused, self._refusals, self._steps = 0, 0, 0, 0
        self._found: Pattern = {}
        self._known: set[tuple[int, ...]] = set()

    def offer(self, counts: Sequence[int]) -> None:
        """Keep a pattern if it fits the node and no better one is known."""
        task = self._task
        value = sum(map(int.__mul__, task.values, counts))
        if value <= self._best or tuple(counts) in self._known:
            return
        self._known.add(tuple(counts))
        pattern = {
            choice.item: count for choice, count in zip(task.choices, counts, strict=True) if count
        }
        if self._takes(pattern):
            self._best, self._found = value, pattern
        else:
            self._refused, self._refusals = max(self._refused, value), self._refusals + 1

    def result(self) -> Priced:
        """Return the result so far."""
        if self._is_over():
            return Priced(self._task.upper, self._best, self._found, False)
        upper = max(self._best + self._tolerance, self._refused)
        return Priced(min(self._task.upper, upper), self._best, self._found, True)

    def _is_over(self) -> bool:
        return self._steps > self._limits[0] or self._refusals > self._limits[1]

    def descend(self, at: int, value: int, capacity: list[int], rest: int) -> None:
        """Try every promising count of the choice at a position. `rest` is the price of the
        remaining capacity.
        """
        self._steps += 1
        if value > self._best:
            self.offer(self._counts)
        choices, missing = self._task.choices, self._best + self._tolerance - value
        if at == len(choices) or rest + self._by_price[at] <= missing or self._is_over():
            return
        # A second bound that doesn't use prices: even if the remaining part of a row were used by
        # the choices with the highest value per unit, no better node would result.
        for row, worth in self._by_row[at]:
            if capacity[row] * worth >> _SHIFT < missing:
                return
        choice, worth, reduced = choices[at], self._task.values[at], self._task.reduced[at]
        count, paid, later = choice.most, worth - reduced, self._by_price[at + 1]
        for row, need in choice.plain:
            if capacity[row] < count * need:
                count = capacity[row] // need
        # Large counts first, because a good node that is found early makes the bounds more
        # effective.
        while count >= 0:
            after, left = value + count * worth, rest - count * paid
            if after + left + later > self._best + self._tolerance:
                self._counts[at] = count
                free = capacity
                if count:
                    free = capacity[:]
                    for row, need in choice.plain:
                        free[row] -= count * need
                self.descend(at + 1, after, free, left)
                if self._is_over():
                    break
            elif reduced > 0:
                break  # a smaller count would be worth even less
            count -= 1
        self._counts[at] = 0


def _suffix_sums(task: Task) -> list[int]:
    """Return, for every position, the contribution of the remaining choices to the price bound."""
    sums = [0] * (len(task.choices) + 1)
    for at in range(len(task.choices) - 1, -1, -1):
        sums[at] = sums[at + 1] + max(0, task.reduced[at]) * task.choices[at].most
    return sums


def _suffix_per_unit(task: Task, rows: int) -> list[list[tuple[int, int]]]:
    """Return, for every position, the maximum worth of the remaining choices per unit of a row,
    scaled.

    Rows that a remaining choice doesn't need give no bound.
    """
    alive: list[tuple[int, int]] = [(row, 0) for row in range(rows)]
    worths = [alive]
    for value, choice in zip(reversed(task.values), reversed(task.choices), strict=True):
        needs = dict(choice.plain)
        alive = [
            (row, max(worth, -(-(value << _SHIFT) // needs[row])))
            for row, worth in alive
            if row in needs
        ]
        worths.append(alive)
    return worths[::-1]
