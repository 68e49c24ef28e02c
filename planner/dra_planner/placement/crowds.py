"""Crowds: pods that have nodes of one pool to themselves, and how many nodes they need in any pod arrival order.

The scheduler takes every pod that fits, so pods of a crowd stay pending only if other pods of the crowd block every
node. `in_any_order` bounds that by proof. If the proof needs more nodes than the rows of the bound, a quick
model of the scheduler finds a count that the full simulation then checks.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Final, Literal

from dra_planner.sizing import LevelNeeds

Scoring = Literal["spread", "pack"]
"""How the scheduler chooses among nodes that fit: the emptiest node, or the node with the most pods."""
_ORDERS: Final = 3  # in which the quick model lets pods arrive: as listed, reversed, and shuffled
_MOST_PODS: Final = 2_000  # beyond which the quick model isn't run: the proof's count applies


@dataclass(frozen=True, slots=True)
class Crowd:
    """Positions of works that share the nodes of one pool, and of no other crowd."""

    pool: int
    works: frozenset[int]

    def with_works(self, works: Iterable[int]) -> Crowd:
        return Crowd(self.pool, self.works.union(works))

    def without_works(self, works: Iterable[int]) -> Crowd:
        return Crowd(self.pool, self.works.difference(works))


@dataclass(slots=True)
class CrowdSizes:
    """Counts nodes for crowds and remembers the answers. `steps` grows with the work of the quick model."""

    needs: LevelNeeds
    scoring: Scoring = "spread"
    steps: int = 0
    _rows: dict[Crowd, _Rows] = field(default_factory=dict)
    _least: dict[Crowd, int] = field(default_factory=dict)
    _nodes: dict[Crowd, int] = field(default_factory=dict)

    def least(self, crowd: Crowd) -> int:
        """Return the nodes below which the crowd is known not to fit: by the rows of the bound, or by a failed try."""
        found = self._least.get(crowd)
        if found is None:
            found = self._least[crowd] = self._rows_of(crowd).least if crowd.works else 0
        return found

    def nodes(self, crowd: Crowd, most: int | None = None) -> int | None:
        """Return the nodes with which the scheduler is expected to place the crowd; None if those are more than `most`.

        The search assumes that more nodes never hurt; the full simulation checks the count.
        """
        if not crowd.works:
            return 0
        known = self._nodes.get(crowd)
        if known is None:
            rows = self._rows_of(crowd)
            enough = max(rows.least, rows.in_any_order)
            if rows.pods > _MOST_PODS:
                known = self._nodes[crowd] = enough
            elif most is not None and most < enough:
                if most < self.least(crowd) or not self._fits(rows, most):
                    self._least[crowd] = max(self.least(crowd), most + 1)
                    return None
                enough = most
        if known is None:
            known = self._nodes[crowd] = self._fewest(crowd, enough)
        return known if most is None or known <= most else None

    def _fewest(self, crowd: Crowd, enough: int) -> int:
        """Return the fewest nodes that suffice, found by halving."""
        rows, low, high = self._rows_of(crowd), self.least(crowd), enough
        while low < high:
            middle = (low + high) // 2
            if self._fits(rows, middle):
                high = middle
            else:
                low = middle + 1
        return high

    def _fits(self, rows: _Rows, nodes: int) -> bool:
        self.steps += rows.pods * nodes
        return all(rows.places_all(order, nodes, self.scoring) for order in rows.orders())

    def _rows_of(self, crowd: Crowd) -> _Rows:
        found = self._rows.get(crowd)
        if found is None:
            found = self._rows[crowd] = _Rows(self.needs, crowd)
        return found


class _Rows:
    """The works of a crowd as vectors of needs, with the capacities of one node."""

    def __init__(self, needs: LevelNeeds, crowd: Crowd) -> None:
        self._cap = needs.capacities[crowd.pool]
        self._is_device = needs.devices[crowd.pool]
        self._works = [
            (needs.works[at].count, needs.works[at].needs[crowd.pool], needs.works[at].fills[crowd.pool])
            for at in sorted(crowd.works)
        ]

    @property
    def pods(self) -> int:
        return sum(count for count, _, _ in self._works)

    @cached_property
    def _totals(self) -> list[int]:
        return [sum(count * need[row] for count, need, _ in self._works) for row in range(len(self._cap))]

    @cached_property
    def least(self) -> int:
        by_rows = [-(-total // cap) for total, cap in zip(self._totals, self._cap, strict=True)]
        by_fill = [-(-count // fill) for count, _, fill in self._works]
        return max([*by_rows, *by_fill, self._by_halves()])

    def _by_halves(self) -> int:
        """Return the pods of which no two share a node, since each takes more than half of some row."""
        return max(
            (sum(count for count, need, _ in self._works if 2 * need[row] > cap) for row, cap in enumerate(self._cap)),
            default=0,
        )

    @cached_property
    def in_any_order(self) -> int:
        """Return the nodes with which no order, no scoring, and no tie-break leaves a pod pending.

        A work is pending only if every node is blocked for it. A node is blocked by a row if the others take more of it
        than the work leaves; so many nodes can be blocked as the total of the row allows, each pod counted once.
        """
        return max((self._blocked(at) for at in range(len(self._works))), default=0) + 1

    def _blocked(self, at: int) -> int:
        _, need, _ = self._works[at]
        blocked = 0
        for row, cap in enumerate(self._cap):
            grain = gcd(*(other[row] for _, other, _ in self._works))
            if not grain or self._highest(row, need) + need[row] <= cap:
                continue
            least = cap - need[row] + 1  # what blocks, rounded up to what pods can take together
            blocked += (self._totals[row] - need[row]) // max(1, -(-least // grain) * grain)
        return blocked

    def _highest(self, row: int, need: tuple[int, ...]) -> int:
        """Return the most that pods take of a row on a node that still has the devices for the work."""
        most = max(other[row] for _, other, _ in self._works)
        pods = self.pods - 1
        for at, cap in enumerate(self._cap):
            smallest = min(other[at] for _, other, _ in self._works)
            if at != row and self._is_device[at] and smallest:
                pods = min(pods, (cap - need[at]) // smallest)
        return pods * most

    # -- the quick model

    def orders(self) -> Iterator[Sequence[int]]:
        """Yield orders in which pods may arrive, as positions of works."""
        listed = [at for at, (count, _, _) in enumerate(self._works) for _ in range(count)]
        yield listed
        yield listed[::-1]
        for seed in range(_ORDERS - 2):
            yield random.Random(seed).sample(listed, len(listed))

    def places_all(self, order: Iterable[int], nodes: int, scoring: Scoring) -> bool:
        """Return whether every pod finds a node if pods arrive in that order."""
        cap, rows = self._cap, range(len(self._cap))
        weights = [0.0 if device else 1 / have for device, have in zip(self._is_device, cap, strict=True)]
        free = [list(cap) for _ in range(nodes)]
        score = [0.0] * nodes  # the used part of amounts, or the pods with a minus sign
        for at in order:
            need = self._works[at][1]
            best, node = 0.0, -1
            for index in range(nodes):
                if node >= 0 and score[index] >= best:
                    continue
                left = free[index]
                for row in rows:
                    if left[row] < need[row]:
                        break
                else:
                    best, node = score[index], index
            if node < 0:
                return False
            for row in rows:
                free[node][row] -= need[row]
            score[node] += -1 if scoring == "pack" else sum(need[row] * weights[row] for row in rows)
        return True
