"""The rows of a group of works: the nodes that they prove, and those that a fast model of the
scheduler needs.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import gcd
from operator import mul
from typing import Final

from dra_planner.placement.arrivals import NodeModel, Scoring, Vector
from dra_planner.placement.hard_orders import arrange_by_size, find_failing_order
from dra_planner.sizing import LevelNeeds

_SHUFFLED: Final = 2  # number of orders in the quick model, in addition to orders by size
_RACED: Final = 3  # number of orders in the quick model in which works start one after the other
_APART: Final = (0.2, 0.5, 1.0, 2.0)  # seconds between the starts of works
_CLAIMS: Final = 3.0  # seconds within which the claims of simultaneously created pods appear


class GroupRows:
    """The works of a group as vectors of needs, with the capacities of one node."""

    def __init__(self, needs: LevelNeeds, pool: int, works: Iterable[int]) -> None:
        self._cap = needs.capacities[pool]
        self._is_device = needs.devices[pool]
        self._works = [
            (
                needs.works[at].count,
                needs.works[at].needs[pool],
                needs.works[at].fills[pool],
            )
            for at in sorted(works)
        ]

    @cached_property
    def pods(self) -> int:
        return sum(count for count, _, _ in self._works)

    @cached_property
    def _totals(self) -> list[int]:
        counts = [count for count, _, _ in self._works]
        return [sum(map(mul, counts, column)) for column in self._columns]

    @cached_property
    def _columns(self) -> list[Vector]:
        """The needs of all works in each row."""
        return list(zip(*(need for _, need, _ in self._works), strict=True))

    @cached_property
    def least(self) -> int:
        by_rows = [-(-total // cap) for total, cap in zip(self._totals, self._cap, strict=True)]
        by_fill = [-(-count // fill) for count, _, fill in self._works]
        return max([*by_rows, *by_fill, self._by_halves()])

    def _by_halves(self) -> int:
        """Return the pods of which no two share a node, because each needs more than half of some
        row.
        """
        return max(
            (
                sum(count for count, need, _ in self._works if 2 * need[row] > cap)
                for row, cap in enumerate(self._cap)
            ),
            default=0,
        )

    @cached_property
    def in_any_order(self) -> int:
        """Return the nodes with which no pod is pending for any order, scoring, and tie-breaking.

        A work is pending only if every node is blocked for it. A row blocks a node if other pods
        use more of it than the work allows. The total of the row limits how many nodes can be
        blocked, with each pod counted once.
        """
        return max((self._blocked(at) for at in range(len(self._works))), default=0) + 1

    def _blocked(self, at: int) -> int:
        _, need, _ = self._works[at]
        blocked = 0
        for row, cap in enumerate(self._cap):
            grain, most = self._grains[row], self._most[row]
            if not grain or self._most_pods_beside(need, row) * most + need[row] <= cap:
                continue
            least = cap - need[row] + 1  # what blocks, rounded up to what pods can take together
            blocked += (self._totals[row] - need[row]) // max(1, -(-least // grain) * grain)
        return blocked

    @cached_property
    def _grains(self) -> list[int]:
        return [gcd(*column) for column in self._columns]

    @cached_property
    def _most(self) -> list[int]:
        return [max(column) for column in self._columns]

    def _most_pods_beside(self, need: Vector, row: int) -> int:
        """Return the most other pods on a node that has too little of a row, but still the devices
        for the work.
        """
        return min(
            [self.pods - 1]
            + [
                (self._cap[at] - need[at]) // smallest
                for at, smallest in self._smallest_devices
                if at != row
            ]
        )

    @cached_property
    def _smallest_devices(self) -> list[tuple[int, int]]:
        """The rows of devices that each pod needs some of, with the smallest need."""
        return [
            (at, min(column))
            for at, column in enumerate(self._columns)
            if self._is_device[at] and min(column)
        ]

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
        return NodeModel(self._cap, self._is_device, [need for _, need, _ in self._works])

    @cached_property
    def _orders(self) -> list[Sequence[int]]:
        """Return possible arrival orders, as positions of works: by size, shuffled, and as
        controllers race.
        """
        by_size = [
            [at for at in arrangement for _ in range(self._works[at][0])]
            for arrangement in self.arrangements
        ]
        shuffled = [random.Random(seed).sample(by_size[0], self.pods) for seed in range(_SHUFFLED)]
        raced = [self._raced(seed) for seed in range(_RACED)]
        return [*by_size, *raced, *shuffled]

    @cached_property
    def arrangements(self) -> list[tuple[int, ...]]:
        """The works by size (see `arrange_by_size`)."""
        return arrange_by_size([need for _, need, _ in self._works], self._cap)

    def learn_failing_order(self, nodes: int, scoring: Scoring) -> bool:
        """Search for an order that leaves pods pending on these nodes, and keep it. Return whether
        one was found.
        """
        found = find_failing_order(
            self.arrangements,
            [count for count, _, _ in self._works],
            nodes,
            lambda order, count: not self.model.places_all(order, count, scoring),
        )
        if found is not None:
            self._orders.insert(0, found)
        return found is not None

    def _raced(self, seed: int) -> list[int]:
        """Return an order as in `ArrivalOrder`: works start in any order, one after the other, and
        each makes one pod, then two, then four.
        """
        chance = random.Random(f"race/{seed}")
        apart, arrivals = chance.choice(_APART), list[tuple[float, int]]()
        works = chance.sample(range(len(self._works)), len(self._works))
        for number, at in enumerate(works):
            start = number * apart
            arrivals += [
                (start + (pod + 1).bit_length() + chance.uniform(0, _CLAIMS), at)
                for pod in range(self._works[at][0])
            ]
        return [at for _, at in sorted(arrivals)]
