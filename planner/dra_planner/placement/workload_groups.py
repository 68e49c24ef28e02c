"""Groups of workloads: pods that exclusively use nodes of one pool, and the nodes that they need in
any pod arrival order.

The scheduler places every pod that fits, so a group's pods stay pending only if the group's other
pods block every node. `in_any_order` proves a bound for that. If the proof needs more nodes than
the rows of the bound, a fast model of the scheduler finds a count for orders that are hard for it,
and the full simulation then checks the count.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import gcd
from typing import Final

from msgspec import Struct

from dra_planner.placement.arrivals import NodeModel, Scoring
from dra_planner.placement.hard_orders import arrange_by_size, find_failing_order
from dra_planner.sizing import LevelNeeds

_SHUFFLED: Final = 2  # orders of the quick model, in addition to those by size
_RACED: Final = 3  # orders of the quick model in which works start one after the other
_APART: Final = (0.2, 0.5, 1.0, 2.0)  # seconds between the starts of works
_CLAIMS: Final = 3.0  # seconds in which the claims of pods that are made together appear
_MOST_PODS: Final = 2_000  # beyond which the quick model isn't run: the proof's count applies


class WorkloadGroup(Struct, frozen=True):
    """Positions of works that share the nodes of one pool, but not with other groups."""

    pool: int
    works: frozenset[int]

    def with_works(self, works: Iterable[int]) -> WorkloadGroup:
        return WorkloadGroup(self.pool, self.works.union(works))

    def includes(self, other: WorkloadGroup) -> bool:
        return self.pool == other.pool and self.works >= other.works

    def without_works(self, works: Iterable[int]) -> WorkloadGroup:
        return WorkloadGroup(self.pool, self.works.difference(works))


class GroupSizes(Struct):
    """Computes and caches node counts of groups. `steps` is the work of the fast model."""

    needs: LevelNeeds
    scoring: Scoring = "spread"
    steps: int = 0
    _rows: dict[WorkloadGroup, _Rows] = {}
    _least: dict[WorkloadGroup, int] = {}
    _nodes: dict[WorkloadGroup, int] = {}
    _refuted: dict[WorkloadGroup, int] = {}

    def refute(self, group: WorkloadGroup, nodes: int) -> None:
        """Record that pods of the group stayed pending on this number of nodes. Groups with more
        works need at least as many.
        """
        if nodes < self._refuted.get(group, 0):
            return
        self._refuted[group] = nodes
        for known in (self._least, self._nodes):
            for other in [each for each in known if each.includes(group)]:
                del known[other]

    def least(self, group: WorkloadGroup) -> int:
        """Return the nodes that the group is known to need at least, from the rows of the bound or
        a failed try.
        """
        found = self._least.get(group)
        if found is None:
            found = self._rows_of(group).least if group.works else 0
            found = self._least[group] = max(
                [found, *(n + 1 for each, n in self._refuted.items() if group.includes(each))]
            )
        return found

    def nodes(self, group: WorkloadGroup, most: int | None = None) -> int | None:
        """Return the nodes with which the scheduler is expected to place the group, or None if they
        are more than `most`.

        The search assumes that more nodes never hurt. The full simulation checks the count.
        """
        if not group.works:
            return 0
        known = self._nodes.get(group)
        if known is None:
            rows = self._rows_of(group)
            enough = max(self.least(group), rows.in_any_order)
            if rows.pods > _MOST_PODS:
                known = self._nodes[group] = enough
            elif most is not None and most < enough:
                if most < self.least(group) or not self._fits(rows, most):
                    self._least[group] = max(self.least(group), most + 1)
                    return None
                enough = most
        if known is None:
            known = self._nodes[group] = self._fewest(group, enough)
        return known if most is None or known <= most else None

    def harden(self, group: WorkloadGroup) -> None:
        """Search for orders that leave pods pending on the group's nodes, and raise its nodes until
        none is found.
        """
        rows = self._rows_of(group)
        while True:
            nodes = self.nodes(group) or 0
            if nodes >= rows.in_any_order or rows.pods > _MOST_PODS:
                return
            if not rows.learn_failing_order(nodes, self.scoring):
                return
            self.refute(group, nodes)

    def fits_in_any_order(self, group: WorkloadGroup, nodes: int) -> bool:
        """Return whether the rows prove that no order leaves pods pending, whichever nodes the
        scheduler chooses.
        """
        pool, works = group.pool, [self.needs.works[at] for at in group.works]
        devices = [row for row, is_device in enumerate(self.needs.devices[pool]) if is_device]
        kinds = {tuple(row for row in devices if each.needs[pool][row]) for each in works}
        is_plain = len(kinds - {()}) <= 1 and all(pool in each.plain for each in works)
        return is_plain and nodes >= self._rows_of(group).in_any_order

    def arrangements(self, group: WorkloadGroup) -> list[list[int]]:
        """Return the works of a group by size, in several ways (see `arrange_by_size`)."""
        works = sorted(group.works)
        return [[works[at] for at in each] for each in self._rows_of(group).arrangements]

    def _fewest(self, group: WorkloadGroup, enough: int) -> int:
        """Return the lowest sufficient number of nodes, found by steps that double and then by
        bisection.

        A number that doesn't suffice fails in the first orders, so it takes less time to check than
        one that suffices.
        """
        rows, low, high, step = self._rows_of(group), self.least(group), enough, 1
        while low < high:
            middle = min(low + step - 1, (low + high) // 2)
            if self._fits(rows, middle):
                high = middle
            else:
                low, step = middle + 1, 2 * step
        return high

    def _fits(self, rows: _Rows, nodes: int) -> bool:
        before = rows.model.steps
        places_all = rows.places_all(nodes, self.scoring)
        self.steps += rows.model.steps - before
        return places_all

    def _rows_of(self, group: WorkloadGroup) -> _Rows:
        found = self._rows.get(group)
        if found is None:
            found = self._rows[group] = _Rows(self.needs, group)
        return found


class _Rows:
    """The works of a group as vectors of needs, with the capacities of one node."""

    def __init__(self, needs: LevelNeeds, group: WorkloadGroup) -> None:
        self._cap = needs.capacities[group.pool]
        self._is_device = needs.devices[group.pool]
        self._works = [
            (
                needs.works[at].count,
                needs.works[at].needs[group.pool],
                needs.works[at].fills[group.pool],
            )
            for at in sorted(group.works)
        ]

    @property
    def pods(self) -> int:
        return sum(count for count, _, _ in self._works)

    @cached_property
    def _totals(self) -> list[int]:
        return [
            sum(count * need[row] for count, need, _ in self._works)
            for row in range(len(self._cap))
        ]

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
            grain = gcd(*(other[row] for _, other, _ in self._works))
            if not grain or self._highest(row, need) + need[row] <= cap:
                continue
            least = cap - need[row] + 1  # what blocks, rounded up to what pods can take together
            blocked += (self._totals[row] - need[row]) // max(1, -(-least // grain) * grain)
        return blocked

    def _highest(self, row: int, need: tuple[int, ...]) -> int:
        """Return the maximum use of a row on a node that still has the devices for the work."""
        most = max(other[row] for _, other, _ in self._works)
        pods = self.pods - 1
        for at, cap in enumerate(self._cap):
            smallest = min(other[at] for _, other, _ in self._works)
            if at != row and self._is_device[at] and smallest:
                pods = min(pods, (cap - need[at]) // smallest)
        return pods * most

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
