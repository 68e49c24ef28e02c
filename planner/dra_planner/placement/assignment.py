"""The assignment of works to pools and of works that share nodes: a local search over crowds.

Moves: a work to another crowd or to a new one, a crowd into another, a crowd to another pool. The
search only makes moves that reduce the price, or the number of crowds at the same price. It's
deterministic and limited by steps of the fast model.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_planner.model import SharedLimit
from dra_planner.placement.crowds import Crowd, CrowdSizes

_STEPS_OF_MOVE: Final = 500  # of the quick model, which take about as long as looking at a move
_MOST_SHAKES: Final = 30
_MOST_SHAKEN: Final = 3  # works that are moved at random before the search goes on

SearchCost = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The pools that crowds can use: node cost, minimum and maximum nodes, and shared limits."""

    names: tuple[str, ...]
    costs: tuple[SearchCost, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    limits: tuple[SharedLimit, ...] = ()
    whole: frozenset[int] = frozenset()  # pools that can't be split

    def cost(self, nodes: Sequence[int]) -> SearchCost:
        """Return the cost of these nodes, with nodes beyond a maximum first."""
        excess = sum(max(0, count - most) for count, most in zip(nodes, self.most, strict=True))
        built = [max(count, least) for count, least in zip(nodes, self.least, strict=True)]
        by_name = dict(zip(self.names, built, strict=True))
        excess += sum(max(0, limit.used(by_name) - limit.most) for limit in self.limits)
        width = len(self.costs[0])
        priced = list(zip(built, self.costs, strict=True))
        return (
            excess,
            *(sum(count * cost[part] for count, cost in priced) for part in range(width)),
        )


@dataclass(slots=True)
class Assignment:
    """Crowds of the works, and the nodes of each pool that they need."""

    pools: Pools
    sizes: CrowdSizes
    crowds: list[Crowd]
    steps: int  # up to this many, counted by `sizes`
    may_split: bool = True  # whether a pool may have several crowds
    _nodes: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._nodes = [0] * len(self.pools.names)
        for crowd in self.crowds:
            self._nodes[crowd.pool] += self._known(crowd)

    @property
    def cost(self) -> tuple[SearchCost, int]:
        """The sort key: the price, then the number of crowds."""
        return self.pools.cost(self._nodes), len(self.crowds)

    @property
    def is_within_limits(self) -> bool:
        return not self.cost[0][0]

    def improve(self) -> None:
        """Make moves until none helps or the steps are used up."""
        moved = True
        while moved and self.sizes.steps < self.steps:
            moved = self._merge() | self._move_works() | self._move_crowds()

    def improve_further(self, rng: random.Random) -> None:
        """Move a few works at random, improve the result, and keep it if it's better, until the
        steps are used up.
        """
        self.improve()
        for _ in range(_MOST_SHAKES):
            if self.sizes.steps >= self.steps:
                return
            other = replace(self, crowds=self._shaken(rng))
            other.improve()
            if other.cost < self.cost:
                self.crowds, self._nodes = other.crowds, other._nodes

    def _shaken(self, rng: random.Random) -> list[Crowd]:
        crowds = list(self.crowds)
        for _ in range(rng.randint(1, _MOST_SHAKEN)):
            crowd = rng.choice(crowds)
            works = frozenset((rng.choice(sorted(crowd.works)),))
            moves = list(self._destinations(crowd, works, crowds))
            if moves:
                old, new = rng.choice(moves)
                crowds = [*(each for each in crowds if each not in old), *new]
        return crowds

    # -- moves

    def _merge(self) -> bool:
        moved = False
        for crowd in list(self.crowds):
            for other in list(self.crowds):
                if (
                    crowd is not other
                    and crowd.pool == other.pool
                    and crowd in self.crowds
                    and other in self.crowds
                ):
                    moved |= self._try((crowd, other), (crowd.with_works(other.works),))
        return moved

    def _move_works(self) -> bool:
        moved = False
        for crowd in list(self.crowds):
            for work in sorted(crowd.works):
                if crowd not in self.crowds:
                    break
                for old, new in self._destinations(crowd, frozenset((work,)), self.crowds):
                    if self._try(old, new):
                        moved = True
                        break
        return moved

    def _move_crowds(self) -> bool:
        moved = False
        for crowd in list(self.crowds):
            for old, new in self._destinations(crowd, crowd.works, self.crowds):
                if crowd in self.crowds and self._try(old, new):
                    moved = True
                    break
        return moved

    def _destinations(
        self, crowd: Crowd, works: frozenset[int], crowds: Sequence[Crowd]
    ) -> Iterator[tuple[tuple[Crowd, ...], tuple[Crowd, ...]]]:
        """Yield the crowds that a move replaces, and their replacements."""
        takers = self._takers(works)
        rest = crowd.without_works(works)
        left = (rest,) if rest.works else ()
        for other in list(crowds):
            if other is not crowd and other.pool in takers:
                yield (crowd, other), (*left, other.with_works(works))
        for pool in takers:
            used = any(each.pool == pool for each in crowds)
            may_split = self.may_split and pool not in self.pools.whole
            if (may_split and (rest.works or pool != crowd.pool)) or not used:
                yield (crowd,), (*left, Crowd(pool, works))

    def _takers(self, works: Iterable[int]) -> list[int]:
        known = self.sizes.needs.works
        sets = [set(known[work].needs) for work in works]
        return sorted(set.intersection(*sets)) if sets else []

    def _try(self, old: Sequence[Crowd], new: Sequence[Crowd]) -> bool:
        """Make a move if it helps."""
        self.sizes.steps += _STEPS_OF_MOVE
        count = len(self.crowds) - len(old) + len(new)
        nodes = list(self._nodes)
        for crowd in old:
            nodes[crowd.pool] -= self._known(crowd)
        for crowd in new:
            nodes[crowd.pool] += self.sizes.least(crowd)
        for crowd in new:
            least = self.sizes.least(crowd)
            most = self._affordable(nodes, crowd.pool, count)
            found = None if most is None else self.sizes.nodes(crowd, least + most)
            if found is None:
                return False
            nodes[crowd.pool] += found - least
        self._nodes = nodes
        self.crowds = [*(each for each in self.crowds if each not in old), *new]
        return True

    def _affordable(self, nodes: Sequence[int], pool: int, crowds: int) -> int | None:
        """Return how many nodes of a pool a move can add and still help, or None if it
        never helps.
        """
        before, more = self.cost, -1
        after = list(nodes)
        while (self.pools.cost(after), crowds) < before and more < nodes[pool] + 1:
            more += 1
            after[pool] += 1
        return more if more >= 0 else None

    def _known(self, crowd: Crowd) -> int:
        found = self.sizes.nodes(crowd)
        assert found is not None  # only a given maximum leads to None
        return found
