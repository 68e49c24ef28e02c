"""Search for cheaper counts: fewer nodes of some pools for more of others.

Each candidate is simulated. Pods on nodes of one pool exclude other pods from them, so the
packing's nodes of one pool might be unnecessary after another pool has grown. More nodes don't
always help, and fewer nodes don't always hurt, so the results of other counts don't allow
conclusions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from dra_planner.model import SharedLimit, nodes_left

Counts = dict[str, int]
Passes = Callable[[Counts], bool]
"""Returns True if the scheduler places all pods on these nodes in every order.

Returns False if the steps are used up.
"""

# number of counts that are tried one by one, starting with the cheapest
_MOST_COUNTS: Final = 2_000
_MOST_LOOKED_AT: Final = 20_000  # number of counts to check to find these candidates


class PoolRange(Struct, frozen=True, kw_only=True):
    """A pool: the cost of a node, and the minimum and maximum number of nodes."""

    name: str
    cost: tuple[int, ...]
    least: int
    most: int


class CountSpace(Struct, frozen=True, kw_only=True):
    """The possible counts, with the shared limits of pools, and the lowest cost to search for."""

    pools: tuple[PoolRange, ...]
    limits: tuple[SharedLimit, ...]
    floor: tuple[int, ...]

    @classmethod
    def of(
        cls,
        costs: Mapping[str, tuple[int, ...]],
        least: Counts,
        most: Counts,
        packing: Counts,
        limits: tuple[SharedLimit, ...],
    ) -> CountSpace:
        """Return the counts between `least` and `most` that cost at least as much as the
        packing.
        """
        ranges = (
            PoolRange(name=name, cost=cost, least=least[name], most=most[name])
            for name, cost in costs.items()
        )
        return cls(
            pools=tuple(ranges),
            limits=limits,
            floor=_sum([(costs[name], packing[name]) for name in costs]),
        )

    def cost(self, counts: Mapping[str, int]) -> tuple[int, ...]:
        """Return the total cost of the nodes."""
        return _sum([(each.cost, counts[each.name]) for each in self.pools])

    def room(self, pool: PoolRange, counts: Counts) -> int:
        """Return the number of nodes that can be added to a pool."""
        left = nodes_left(self.limits, counts).get(pool.name, pool.most)
        return max(0, min(pool.most - counts[pool.name], left))

    def below(self, ceiling: tuple[int, ...]) -> list[Counts] | None:
        """Return all counts that cost less, but not less than the floor, cheapest first, or None if
        there are too many.
        """
        found: list[tuple[tuple[int, ...], Counts]] = []
        for looked_at, counts in enumerate(self._counts(0, {}, ceiling)):
            if looked_at > _MOST_LOOKED_AT or len(found) > _MOST_COUNTS:
                return None
            if counts is not None and all(
                limit.used(counts) <= limit.most for limit in self.limits
            ):
                found.append((self.cost(counts), counts))
        return [
            counts
            for _, counts in sorted(found, key=lambda each: (each[0], tuple(each[1].values())))
        ]

    def _counts(self, at: int, first: Counts, ceiling: tuple[int, ...]) -> Iterator[Counts | None]:
        """Yield counts that begin with the given counts of the first pools, and None for each
        prefix that is checked.
        """
        if at == len(self.pools):
            yield first
            return
        pool, before = self.pools[at], [(each.cost, first[each.name]) for each in self.pools[:at]]
        rest = [(each.cost, each.least) for each in self.pools[at + 1 :]]
        most = [(each.cost, each.most) for each in self.pools[at + 1 :]]
        for count in range(self._enough(pool, [*before, *most]), pool.most + 1):
            here = [*before, (pool.cost, count)]
            if _sum([*here, *rest]) >= ceiling:
                return
            yield None
            if _sum([*here, *most]) >= self.floor:
                yield from self._counts(at + 1, {**first, pool.name: count}, ceiling)

    def _enough(self, pool: PoolRange, others: list[tuple[tuple[int, ...], int]]) -> int:
        """Return the minimum nodes of a pool.

        With fewer nodes, the cost is below the floor, whatever the other counts are.
        """
        if not pool.cost[0]:
            return pool.least
        known = sum(cost[0] * nodes for cost, nodes in others)
        return max(pool.least, (self.floor[0] - known) // pool.cost[0])


def _sum(parts: list[tuple[tuple[int, ...], int]]) -> tuple[int, ...]:
    return tuple(
        [sum([cost[entry] * nodes for cost, nodes in parts]) for entry in range(len(parts[0][0]))]
    )


def find_cheaper(space: CountSpace, start: Counts, passes: Passes) -> tuple[Counts, bool]:
    """Return counts that pass, and whether all cheaper counts were tried.

    The counts cost at most as much as `start`, which passes. If `passes` runs out of steps, it
    returns False for the remaining candidates, and the best counts so far are returned.
    """
    best, before = start, None
    while best != before:
        before = best
        best = _exchange(space, _drop(space, best, passes), passes)
    cheaper = space.below(space.cost(best))
    return next((each for each in cheaper or () if passes(each)), best), cheaper is not None


def _drop(space: CountSpace, counts: Counts, passes: Passes) -> Counts:
    """Remove unnecessary nodes, most expensive first, down to the minimum of each pool."""
    for pool in _by_cost(space, dear_first=True):
        counts = _fewest(pool, pool.least, counts, passes)
    return counts


def _fewest(pool: PoolRange, low: int, counts: Counts, passes: Passes) -> Counts:
    """Return counts that pass with fewer nodes of a pool, but at least `low`, by binary search."""
    high = counts[pool.name]
    while low < high:
        middle = (low + high) // 2
        if passes({**counts, pool.name: middle}):
            high = middle
        else:
            low = middle + 1
    return {**counts, pool.name: high}


def _exchange(space: CountSpace, counts: Counts, passes: Passes) -> Counts:
    """Replace nodes of one pool with cheaper nodes of another: one, two, four, and so on."""
    for given in _by_cost(space, dear_first=True):
        for taken in _by_cost(space, dear_first=False):
            nodes = 1
            while taken is not given and nodes <= counts[given.name] - given.least:
                fewer = {**counts, given.name: counts[given.name] - nodes}
                more = min(space.room(taken, fewer), _affordable(given.cost, nodes, taken.cost))
                more_of = {**fewer, taken.name: fewer[taken.name] + more}
                if more and passes(more_of):
                    counts = _fewest(taken, fewer[taken.name], more_of, passes)
                nodes *= 2
    return counts


def _affordable(price: tuple[int, ...], nodes: int, cost: tuple[int, ...]) -> int:
    """Return the largest number of nodes at one price that cost less than a number of nodes at
    another price.
    """
    budget = tuple(nodes * part for part in price)
    low, high = 0, next((have // part for have, part in zip(budget, cost, strict=True) if part), 0)
    while low < high:
        middle = (low + high + 1) // 2
        if tuple(middle * part for part in cost) < budget:
            low = middle
        else:
            high = middle - 1
    return low


def _by_cost(space: CountSpace, *, dear_first: bool) -> list[PoolRange]:
    return sorted(space.pools, key=lambda each: each.cost, reverse=dear_first)
