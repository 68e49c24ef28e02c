"""Cheaper counts than those found: fewer nodes of some pools for more of others, each simulated
before it is kept.

Pods on nodes of one pool keep others off them, so that what a packing has of a pool may be needless
once another has grown. More nodes do not always help and fewer do not always hurt: nothing is
concluded from other counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dra_planner.model import SharedLimit, nodes_left

Counts = dict[str, int]
Passes = Callable[[Counts], bool]
"""Whether the scheduler places everything on so many nodes, in every order; False too where the
steps are used up.
"""

_MOST_COUNTS: Final = 2_000  # that are tried one by one, the cheapest first
_MOST_LOOKED_AT: Final = 20_000  # to find these


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRange:
    """A pool: what a node costs, the fewest and the most nodes."""

    name: str
    cost: tuple[int, ...]
    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSpace:
    """The counts that may be built, with what pools may take together, and the cost below which
    none is sought.
    """

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
        """Return the counts between `least` and `most`; none is sought that costs less than the
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
        """Return what the nodes cost together."""
        return _sum([(each.cost, counts[each.name]) for each in self.pools])

    def room(self, pool: PoolRange, counts: Counts) -> int:
        """Return how many nodes of a pool may be added."""
        left = nodes_left(self.limits, counts).get(pool.name, pool.most)
        return max(0, min(pool.most - counts[pool.name], left))

    def below(self, ceiling: tuple[int, ...]) -> list[Counts] | None:
        """Return all counts that cost less, and no less than the floor, the cheapest first; None
        where too many.
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
        """Yield counts that begin with those of the first pools, and None for each beginning that
        is looked at.
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
        """Return nodes of a pool below which it costs less than the floor, whatever there is of the
        others.
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
    """Return counts that pass and cost no more than `start`, which passes; and whether all cheaper
    ones were tried.

    `passes` is asked until it has no steps left; its last answers are then all False, and what
    passed is returned.
    """
    best, before = start, None
    while best != before:
        before = best
        best = _exchange(space, _drop(space, best, passes), passes)
    cheaper = space.below(space.cost(best))
    return next((each for each in cheaper or () if passes(each)), best), cheaper is not None


def _drop(space: CountSpace, counts: Counts, passes: Passes) -> Counts:
    """Take nodes away that are not needed, the most expensive first, down to the fewest that a pool
    may have.
    """
    for pool in _by_cost(space, dear_first=True):
        counts = _fewest(pool, pool.least, counts, passes)
    return counts


def _fewest(pool: PoolRange, low: int, counts: Counts, passes: Passes) -> Counts:
    """Return counts that pass with fewer nodes of a pool, `low` at least, where such are found by
    halving.
    """
    high = counts[pool.name]
    while low < high:
        middle = (low + high) // 2
        if passes({**counts, pool.name: middle}):
            high = middle
        else:
            low = middle + 1
    return {**counts, pool.name: high}


def _exchange(space: CountSpace, counts: Counts, passes: Passes) -> Counts:
    """Give nodes of one pool for cheaper ones of another: one, two, four, …"""
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
    """Return how many nodes cost less than so many at a price."""
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
