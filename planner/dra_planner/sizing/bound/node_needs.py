"""Needs of pods on one node of each pool: the rows of the bound, for each shape separately."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.model import DemandLevel
from dra_planner.records import equality
from dra_planner.sizing.bound.plain_pods import is_plain
from dra_planner.sizing.bound.rows import pool_rows
from dra_planner.sizing.items import split_demand
from dra_planner.sizing.packing.compatibility import find_compatibility
from dra_planner.sizing.sizing import Sizer


@equality(unhashed=("fills", "needs"))
class WorkNeeds(Struct, frozen=True, kw_only=True):
    """Pods that must share a node, `count` times.

    Most works are one pod of one shape. For each suitable pool (by position), `fills` is the number
    of works that an empty node holds, and `needs` are the amounts that one work needs in each row.
    `plain` are the pools whose nodes accept a work if and only if every row has enough free
    capacity.
    """

    shapes: tuple[str, ...]
    count: int
    fills: Mapping[int, int]
    needs: Mapping[int, tuple[int, ...]]
    plain: frozenset[int] = frozenset()


class LevelNeeds(Struct, frozen=True, kw_only=True):
    """The works of one level, and the capacity of each pool's node in each row.

    `devices` are the rows that count devices.
    """

    pools: tuple[str, ...]
    works: tuple[WorkNeeds, ...]
    capacities: tuple[tuple[int, ...], ...]
    devices: tuple[tuple[bool, ...], ...]

    def share(self, work: int, pool: int) -> float:
        """Return the share of a pool's node that one unit of a work needs.

        The pool must be suitable for the work.
        """
        parts = zip(self.works[work].needs[pool], self.capacities[pool], strict=True)
        return max(need / capacity for need, capacity in parts)


def node_needs(sizer: Sizer, level: DemandLevel) -> LevelNeeds:
    """Return what a level's pods need of the nodes. Pods without a suitable pool are excluded."""
    items = split_demand(sizer.demand, level)
    limits = [(offer.name, offer.count_min, offer.count_max) for offer in sizer.offers]
    found = find_compatibility(items.items, items.daemons, sizer.nodes, limits)
    of_pools = pool_rows(found)
    rows = [rows for rows, _ in of_pools]
    return LevelNeeds(
        pools=tuple(offer.name for offer in sizer.offers),
        works=tuple(
            WorkNeeds(
                shapes=tuple(part.shape.id for part in item.parts),
                count=item.count,
                fills={pool: found.fills[index, pool] for pool in found.takers[index]},
                needs={
                    pool: tuple(row.needs.get(index, 0) for row in rows[pool])
                    for pool in found.takers[index]
                },
                plain=frozenset(
                    pool for pool in found.takers[index] if is_plain(item, of_pools[pool][1][index])
                ),
            )
            for index, item in enumerate(found.items)
            if found.takers[index]
        ),
        capacities=tuple(tuple(row.capacity for row in each) for each in rows),
        devices=tuple(tuple(row.name.startswith("devices ") for row in each) for each in rows),
    )
