"""The rows of a group of works.

They prove a number of nodes, and a fast model of the scheduler estimates one.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from math import gcd
from typing import Final

from msgspec import Struct

from dra_planner.placement.arrivals import NodeModel, Scoring, Vector
from dra_planner.placement.hard_orders import arrange_by_size, find_failing_order
from dra_planner.sizing import LevelNeeds

_SHUFFLED: Final = 2  # number of orders in the quick model, in addition to orders by size
_RACED: Final = 3  # number of orders in the quick model in which works start one after another
_APART: Final = (0.2, 0.5, 1.0, 2.0)  # seconds between the starts of works
_CLAIMS: Final = 3.0  # seconds within which the claims of simultaneously created pods appear


class WorkRows(Struct, frozen=True):
    """One work in the rows of a pool's nodes.

    `sums` are the amounts that are added up for a group: for each row, the need of all pods, and
    the number of pods that need more than half of a node's row. `least` is the number of nodes that
    the work needs by itself.
    """

    count: int
    need: Vector
    sums: Vector
    least: int

    @classmethod
    def of(cls, count: int, need: Vector, fill: int, capacity: Vector) -> WorkRows:
        halves = [count if 2 * each > cap else 0 for each, cap in zip(need, capacity, strict=True)]
        return cls(count, need, (*[count * each for each in need], *halves), -(-count // fill))


class PoolRows:
    """The works that fit a pool's nodes, the capacities of one node, and its limits for `sums`.

    Two pods that each need more than half of a row can't share a node.
    """

    def __init__(self, needs: LevelNeeds, pool: int) -> None:
        self.capacity = needs.capacities[pool]
        self.limits = (*self.capacity, *[1] * len(self.capacity))
        self.is_device = needs.devices[pool]
        self.works = {
            at: WorkRows.of(work.count, work.needs[pool], work.fills[pool], self.capacity)
            for at, work in enumerate(needs.works)
            if pool in work.needs
        }

    def sums(self, works: Iterable[int]) -> list[int]:
        """Return the sums of these works (at least one work)."""
        return list(map(sum, zip(*[self.works[at].sums for at in works], strict=True)))

    def least(self, works: Collection[int]) -> int:
        """Return the minimum number of nodes for these works, according to each sum."""
        by_sums = [
            -(-total // limit) for total, limit in zip(self.sums(works), self.limits, strict=True)
        ]
        return max([self.works[at].least for at in works] + by_sums)


class GroupRows:
    """The works of a group as vectors of needs, with the capacities of one node."""

    def __init__(self, pool: PoolRows, works: Iterable[int]) -> None:
        self._cap = pool.capacity
        self._is_device = pool.is_device
        self._works = [pool.works[at] for at in sorted(works)]
        self.pods = sum(work.count for work in self._works)

    @cached_property
    def in_any_order(self) -> int:
        """Return the number of nodes with which no pod stays pending, for any order, scoring, and
        tie-breaking. A work's pod stays pending only if every node is blocked for it. A row
        blocks a node if other pods use more of it than the work allows. The total of the row
        limits how many nodes can be blocked, with each pod counted once.
        """
        columns = list(zip(*(work.need for work in self._works), strict=True))
        rows = [
            (row, cap, gcd(*column), max(column), total)
            for row, (cap, column, total) in enumerate(
                zip(self._cap, columns, self._works_total(), strict=True)
            )
            if max(column)
        ]
        devices = [
            (row, min(column))
            for row, column in enumerate(columns)
            if self._is_device[row] and min(column)
        ]
        return max((self._blocked(work.need, rows, devices) for work in self._works), default=0) + 1

    def _works_total(self) -> Iterator[int]:
        """Yield the need of all pods in each row."""
        sums = [work.sums[: len(self._cap)] for work in self._works]
        return map(sum, zip(*sums, strict=True))

    def _blocked(
        self,
        need: Vector,
        rows: Sequence[tuple[int, int, int, int, int]],
        devices: Sequence[tuple[int, int]],
    ) -> int:
        """Return how many nodes other pods can block for a pod with this need.

        `rows` contains position, capacity, common divisor, and largest and total need. `devices`
        are the rows of devices that every pod needs, with the smallest need. They limit the other
        pods on a node that still has the devices for this pod.
        """
        beside = [(row, (self._cap[row] - need[row]) // smallest) for row, smallest in devices]
        blocked = 0
        for row, cap, grain, largest, total in rows:
            least = cap - need[row] + 1
            others = min([self.pods - 1, *(pods for at, pods in beside if at != row)])
            if others * largest >= least:
                # the blocking amount, rounded up to an amount that pods can use together
                blocked += (total - need[row]) // max(1, -(-least // grain) * grain)
        return blocked

    # -- the quick model

    def places_all(self, nodes: int, scoring: Scoring) -> bool:
        """Return whether every pod finds a node in every order. An order that failed is tried first
        the next time.
        """
        for at, order in enumerate(self._orders):
            if not self.model.places_all(order, nodes, scoring):
                self._orders.insert(0, self._orders.pop(at))
                return False
        return True

    @cached_property
    def model(self) -> NodeModel:
        return NodeModel(self._cap, self._is_device, [work.need for work in self._works])

    @cached_property
    def _orders(self) -> list[Sequence[int]]:
        """Return possible arrival orders, as positions of works: by size, shuffled, and as
        controllers race.
        """
        by_size = [
            [at for at in arrangement for _ in range(self._works[at].count)]
            for arrangement in self.arrangements
        ]
        shuffled = [random.Random(seed).sample(by_size[0], self.pods) for seed in range(_SHUFFLED)]
        raced = [self._raced(seed) for seed in range(_RACED)]
        return [*by_size, *raced, *shuffled]

    @cached_property
    def arrangements(self) -> list[tuple[int, ...]]:
        """The works by size (see `arrange_by_size`)."""
        return arrange_by_size([work.need for work in self._works], self._cap)

    def learn_failing_order(self, nodes: int, scoring: Scoring) -> bool:
        """Search for an order that leaves pods pending on these nodes, and store it.

        Return whether one was found.
        """
        found = find_failing_order(
            self.arrangements,
            [work.count for work in self._works],
            nodes,
            lambda order, count: not self.model.places_all(order, count, scoring),
        )
        if found is not None:
            self._orders.insert(0, found)
        return found is not None

    def _raced(self, seed: int) -> list[int]:
        """Return an order as in `ArrivalOrder`: works start one after another, in any order, and
        each creates one pod, then two, then four.
        """
        chance = random.Random(f"race/{seed}")
        apart, arrivals = chance.choice(_APART), list[tuple[float, int]]()
        works = chance.sample(range(len(self._works)), len(self._works))
        for number, at in enumerate(works):
            start = number * apart
            arrivals += [
                (start + (pod + 1).bit_length() + chance.uniform(0, _CLAIMS), at)
                for pod in range(self._works[at].count)
            ]
        return [at for _, at in sorted(arrivals)]
