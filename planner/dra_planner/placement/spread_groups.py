"""Groups whose works share nodes by even spread, with node counts that suffice in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import field

from dra_planner.model import Shape
from dra_planner.placement.even_spread import (
    SpreadClass,
    SpreadWork,
    arranged,
    fewest_nodes,
    find_classes,
)
from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup

_STEPS_OF_WORK: Final = 80  # steps of the quick model; one takes about as long as placing a work


class SpreadSizes(GroupSizes):
    """Node counts of groups that are proven for any order. Even spread is used if it needs fewer
    nodes than the rows without it.
    """

    shapes: Mapping[str, Shape] = {}
    _ranked: dict[int, list[SpreadWork]] = field(default_factory=dict)

    def nodes(self, group: WorkloadGroup, most: int | None = None) -> int | None:
        """Return the number of nodes that hold the group in any order, or None if it's more than
        `most`.
        """
        if not group.works:
            return 0
        found = self._nodes.get(group)
        if found is None:
            least, capacity = self.least(group), self.needs.capacities[group.pool]
            enough = max(least, self._rows_of(group).in_any_order)
            limit = enough if most is None else min(most, enough)
            works = self._works(group) if least < enough else []
            self.steps += _STEPS_OF_WORK * len(works)
            found = fewest_nodes(works, capacity, least, min(limit, enough - 1)) if works else None
            if found is None and limit < enough:
                self._least[group] = max(least, limit + 1)
                return None
            found = self._nodes[group] = enough if found is None else found
        return found if most is None or found <= most else None

    def harden(self, group: WorkloadGroup) -> None:
        """Do nothing, because the counts suffice in every order."""

    def classes(self, group: WorkloadGroup, nodes: int) -> list[SpreadClass]:
        """Return the classes that spread evenly over this number of nodes.

        The result is empty if the group doesn't need even spread.
        """
        if nodes >= self._rows_of(group).in_any_order:
            return []
        capacity = self.needs.capacities[group.pool]
        return find_classes(self._works(group), capacity, nodes) or []

    def is_held_in_any_order(self, group: WorkloadGroup, nodes: int) -> bool:
        return super().is_held_in_any_order(group, nodes) or bool(self.classes(group, nodes))

    def _works(self, group: WorkloadGroup) -> list[SpreadWork]:
        """Return the group's works, starting with the largest, or none if a work's pods must share
        a node.
        """
        ranked = self._ranked.get(group.pool)
        if ranked is None:
            ranked = self._ranked[group.pool] = self._rank(group.pool)
        works = [work for work in ranked if work.at in group.works]
        return works if len(works) == len(group.works) else []

    def _rank(self, pool: int) -> list[SpreadWork]:
        """Return all works that fit the pool and whose pods can use different nodes, starting with
        the largest.
        """
        works = [
            SpreadWork(at, work.count, work.needs[pool], self.shapes[work.shapes[0]].namespace)
            for at, work in enumerate(self.needs.works)
            if pool in work.needs and len(work.shapes) == 1
        ]
        return arranged(works, self.needs.capacities[pool])
