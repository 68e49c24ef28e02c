"""Assign works (see `sizing.bound.node_needs`) to pools and to groups that share nodes, with a
local search. A move puts a work into another or a new group, merges a group into another, or
puts a group on another pool. The search makes only moves that reduce the price, or the number of
groups at the same price. The search is deterministic, and limited by steps of the fast model.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import mul
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from dra_planner.model import SharedLimit
from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup

STEPS_OF_MOVE: Final = 500
"""Number of quick-model steps that take about as long as evaluating a move."""
_SEED: Final = 1  # share of the works that are moved at random
_MOST_SHAKES: Final = 10_000
_MOST_SHAKEN: Final = 3  # number of random moves before the search continues
# share by which the starting points of random moves can exceed the best price
_WORSE: Final = 0.01

SearchCost = tuple[int, ...]
Move = tuple[tuple[WorkloadGroup, ...], tuple[WorkloadGroup, ...]]
"""The groups that a move replaces, and their replacements."""


class Pools(Struct, frozen=True, kw_only=True):
    """The pools that groups can use: node cost, minimum and maximum nodes, and shared limits."""

    names: tuple[str, ...]
    costs: tuple[SearchCost, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    limits: tuple[SharedLimit, ...] = ()
    whole: frozenset[int] = frozenset()  # pools that can't be split
    _columns: tuple[SearchCost, ...] = ()  # the costs of all pools, by unit

    def __post_init__(self) -> None:
        force_setattr(self, "_columns", tuple(zip(*self.costs, strict=True)))

    def cost(self, nodes: Sequence[int]) -> SearchCost:
        """Return the cost of these nodes, with nodes beyond a maximum first."""
        excess, built = 0, []
        for count, least, most in zip(nodes, self.least, self.most, strict=True):
            if count > most:
                excess += count - most
            built.append(count if count > least else least)
        if self.limits:
            by_name = dict(zip(self.names, built, strict=True))
            excess += sum(max(0, limit.used(by_name) - limit.most) for limit in self.limits)
        return (excess, *[sum(map(mul, built, column)) for column in self._columns])

    def cost_after(
        self, cost: SearchCost, before: Sequence[int], after: Sequence[int], changed: Iterable[int]
    ) -> SearchCost:
        """Return the cost of nodes that differ only in few pools from nodes with a known cost."""
        if self.limits:
            return self.cost(after)
        result = list(cost)
        for pool in changed:
            least, most = self.least[pool], self.most[pool]
            old, new = before[pool], after[pool]
            result[0] += max(0, new - most) - max(0, old - most)
            more = max(new, least) - max(old, least)
            if more:
                for unit, price in enumerate(self.costs[pool], 1):
                    result[unit] += more * price
        return tuple(result)


class Assignment(Struct):
    """Groups of the works, and the nodes of each pool that they need."""

    pools: Pools
    sizes: GroupSizes
    groups: list[WorkloadGroup]
    steps: int  # limit of steps, which `sizes` counts
    may_split: bool = True  # whether a pool may have several groups
    _settled: frozenset[WorkloadGroup] = frozenset()  # groups for which no move helps
    _nodes: list[int] = []
    _price: SearchCost = ()  # price of the nodes

    def __post_init__(self) -> None:
        self._nodes = [0] * len(self.pools.names)
        for group in self.groups:
            self._nodes[group.pool] += self._known(group)
        self._price = self.pools.cost(self._nodes)

    @property
    def cost(self) -> tuple[SearchCost, int]:
        """The sort key: the price, and then the number of groups."""
        return self._price, len(self.groups)

    @property
    def is_within_limits(self) -> bool:
        return not self.cost[0][0]

    def is_near(self, other: Assignment, worse: float) -> bool:
        """Return whether the assignment costs at most this share more than another one."""
        (excess, price, *_), (most_excess, other_price, *_) = self.cost[0], other.cost[0]
        return excess <= most_excess and price <= other_price * (1 + worse)

    def improve(self) -> None:
        """Make moves until none helps or the steps are used up."""
        moved = True
        while moved and self.sizes.steps < self.steps:
            before = frozenset(self.groups)
            moved = self._merge() | self._move_works() | self._move_groups()
            self._settled = before.intersection(self.groups)

    def improve_further(self) -> None:
        """Move a few works at random and improve the result until the steps are used up.

        Keep the best result. A result that costs slightly more than the best can also be the start
        of the next moves.
        """
        rng = random.Random(_SEED)
        self.improve()
        best = here = self
        start = self.sizes.steps
        for _ in range(_MOST_SHAKES):
            done = self.sizes.steps - start
            if self.sizes.steps >= self.steps:
                break
            other = replace(here, groups=here._shaken(rng))
            other.improve()
            if other.cost < best.cost:
                best = other
            worse = _WORSE * (1 - done / (self.steps - start))
            if other.cost <= here.cost or other.is_near(best, worse):
                here = other
        self.groups, self._settled = best.groups, best._settled
        self._nodes, self._price = best._nodes, best._price

    def _shaken(self, rng: random.Random) -> list[WorkloadGroup]:
        groups = list(self.groups)
        for _ in range(rng.randint(1, _MOST_SHAKEN)):
            group = rng.choice(groups)
            works = frozenset((rng.choice(sorted(group.works)),))
            moves = list(self._destinations(group, works, groups))
            if moves:
                old, new = rng.choice(moves)
                groups = [*(each for each in groups if each not in old), *new]
        return groups

    # -- moves

    def _merge(self) -> bool:
        moved = False
        for group in list(self.groups):
            for other in list(self.groups):
                if (
                    group is not other
                    and group.pool == other.pool
                    and not self._settled.issuperset((group, other))
                    and group in self.groups
                    and other in self.groups
                ):
                    moved |= self._try((group, other), (group.with_works(other.works),))
        return moved

    def _move_works(self) -> bool:
        moved = False
        for group in list(self.groups):
            for work in sorted(group.works):
                if group not in self.groups:
                    break
                for old, new in self._moves(group, frozenset((work,))):
                    if self._try(old, new):
                        moved = True
                        break
        return moved

    def _move_groups(self) -> bool:
        moved = False
        for group in list(self.groups):
            for old, new in self._moves(group, group.works):
                if group in self.groups and self._try(old, new):
                    moved = True
                    break
        return moved

    def _moves(self, group: WorkloadGroup, works: frozenset[int]) -> Iterator[Move]:
        """Yield the moves of these works that haven't been tried yet."""
        for old, new in self._destinations(group, works, self.groups):
            if not self._settled.issuperset(old):
                yield old, new

    def _destinations(
        self, group: WorkloadGroup, works: frozenset[int], groups: Sequence[WorkloadGroup]
    ) -> Iterator[Move]:
        """Yield all moves of these works from their group."""
        takers = self._takers(works)
        rest = group.without_works(works)
        left = (rest,) if rest.works else ()
        for other in list(groups):
            if other is not group and other.pool in takers:
                yield (group, other), (*left, other.with_works(works))
        for pool in takers:
            used = any(each.pool == pool for each in groups)
            may_split = self.may_split and pool not in self.pools.whole
            if (may_split and (rest.works or pool != group.pool)) or not used:
                yield (group,), (*left, WorkloadGroup(pool, works))

    def _takers(self, works: Iterable[int]) -> list[int]:
        known = self.sizes.needs.works
        sets = [set(known[work].needs) for work in works]
        return sorted(set.intersection(*sets)) if sets else []

    def _try(self, old: Sequence[WorkloadGroup], new: Sequence[WorkloadGroup]) -> bool:
        """Make a move if it helps and steps are left."""
        if self.sizes.steps >= self.steps:
            return False
        self.sizes.steps += STEPS_OF_MOVE
        count = len(self.groups) - len(old) + len(new)
        changed = {group.pool for group in (*old, *new)}
        nodes = list(self._nodes)
        for group in old:
            nodes[group.pool] -= self._known(group)
        for group in new:
            nodes[group.pool] += self.sizes.least(group)
        for group in new:
            least = self.sizes.least(group)
            most = self._affordable(nodes, group.pool, changed, count)
            found = None if most is None else self.sizes.nodes(group, least + most)
            if found is None:
                return False
            nodes[group.pool] += found - least
        self._price = self.pools.cost_after(self._price, self._nodes, nodes, changed)
        self._nodes = nodes
        self.groups = [*(each for each in self.groups if each not in old), *new]
        return True

    def _affordable(
        self, nodes: Sequence[int], pool: int, changed: Collection[int], groups: int
    ) -> int | None:
        """Return how many nodes a helpful move can add to a pool, or None if the move never helps.

        `changed` are the pools whose nodes the move changes.
        """
        before, more = self.cost, -1
        after = list(nodes)
        while more < nodes[pool] + 1:
            price = self.pools.cost_after(self._price, self._nodes, after, changed)
            if (price, groups) >= before:
                break
            more += 1
            after[pool] += 1
        return more if more >= 0 else None

    def _known(self, group: WorkloadGroup) -> int:
        found = self.sizes.nodes(group)
        assert found is not None  # only a given maximum can lead to None
        return found
