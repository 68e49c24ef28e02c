"""Groups of workloads: pods that exclusively use nodes of one pool, and the nodes that they need in
any pod arrival order.

The scheduler places every pod that fits, so a group's pods stay pending only if the group's other
pods block every node. `in_any_order` proves a bound for that. If the proof needs more nodes than
the rows of the bound, a fast model of the scheduler finds a count for difficult orders, and the
full simulation then checks the count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dra_planner.placement.arrivals import Scoring
from dra_planner.placement.group_rows import GroupRows, PoolRows
from dra_planner.sizing import LevelNeeds

# above this limit, the quick model isn't run, and the proof's count applies
_MOST_PODS: Final = 2_000


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
    """Computes and caches node counts of groups. `steps` counts the steps of the fast model."""

    needs: LevelNeeds
    scoring: Scoring = "spread"
    steps: int = 0
    _pools: dict[int, PoolRows] = {}
    _rows: dict[WorkloadGroup, GroupRows] = {}
    _least: dict[WorkloadGroup, int] = {}
    _nodes: dict[WorkloadGroup, int] = {}
    _refuted: dict[WorkloadGroup, int] = {}

    def refute(self, group: WorkloadGroup, nodes: int) -> None:
        """Record that pods of the group stayed pending on this number of nodes.

        Groups with more works need at least as many nodes.
        """
        if nodes < self._refuted.get(group, 0):
            return
        self._refuted[group] = nodes
        for known in (self._least, self._nodes):
            for other in [each for each in known if each.includes(group)]:
                del known[other]

    def known(self) -> dict[WorkloadGroup, int]:
        """Return the groups whose node counts are known, with these counts."""
        return self._nodes

    def least(self, group: WorkloadGroup) -> int:
        """Return the known minimum number of nodes for the group, from the rows of the bound or a
        failed try.
        """
        found = self._least.get(group)
        if found is None:
            found = self.pool_rows(group.pool).least(group.works) if group.works else 0
            found = self._least[group] = max(
                [found, *(n + 1 for each, n in self._refuted.items() if group.includes(each))]
            )
        return found

    def nodes(self, group: WorkloadGroup, most: int | None = None) -> int | None:
        """Return the number of nodes on which the scheduler probably places the group, or None if
        it's more than `most`.

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
        """Search for orders that leave pods pending on the group's nodes, and add nodes until no
        such order is found.
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
        """Return whether provably no order leaves pods pending, whichever nodes the scheduler
        chooses.
        """
        pool, works = group.pool, [self.needs.works[at] for at in group.works]
        devices = [row for row, is_device in enumerate(self.needs.devices[pool]) if is_device]
        kinds = {tuple(row for row in devices if each.needs[pool][row]) for each in works}
        is_plain = len(kinds - {()}) <= 1 and all(pool in each.plain for each in works)
        return is_plain and self.is_held_in_any_order(group, nodes)

    def is_held_in_any_order(self, group: WorkloadGroup, nodes: int) -> bool:
        """Return whether the rows of the nodes hold the group in any order."""
        return nodes >= self._rows_of(group).in_any_order

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

    def _fits(self, rows: GroupRows, nodes: int) -> bool:
        before = rows.model.steps
        places_all = rows.places_all(nodes, self.scoring)
        self.steps += rows.model.steps - before
        return places_all

    def _rows_of(self, group: WorkloadGroup) -> GroupRows:
        found = self._rows.get(group)
        if found is None:
            found = self._rows[group] = GroupRows(self.pool_rows(group.pool), group.works)
        return found

    def pool_rows(self, pool: int) -> PoolRows:
        """Return the works that a pool fits, in the rows of its nodes."""
        found = self._pools.get(pool)
        if found is None:
            found = self._pools[pool] = PoolRows(self.needs, pool)
        return found
