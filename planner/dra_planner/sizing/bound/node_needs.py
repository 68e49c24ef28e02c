"""What pods take of one node of each pool: the rows of the bound, for each shape by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_planner.model import DemandLevel
from dra_planner.sizing.bound.rows import pool_rows
from dra_planner.sizing.items import split_demand
from dra_planner.sizing.packing.compatibility import find_compatibility
from dra_planner.sizing.sizing import Sizer


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkNeeds:
    """Pods that go to nodes together, `count` times; most are one pod of one shape.

    By position of a pool that takes them: `fills` is how many an empty node holds, `needs` what one
    takes of each row.
    """

    shapes: tuple[str, ...]
    count: int
    fills: Mapping[int, int] = field(hash=False)
    needs: Mapping[int, tuple[int, ...]] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelNeeds:
    """The work of one level, and what a node of each pool has of each row. `devices`: which rows
    count devices.
    """

    pools: tuple[str, ...]
    works: tuple[WorkNeeds, ...]
    capacities: tuple[tuple[int, ...], ...]
    devices: tuple[tuple[bool, ...], ...]

    def share(self, work: int, pool: int) -> float:
        """Return the part of a pool's node that one of a work needs; the pool has to take it."""
        parts = zip(self.works[work].needs[pool], self.capacities[pool], strict=True)
        return max(need / capacity for need, capacity in parts)


def node_needs(sizer: Sizer, level: DemandLevel) -> LevelNeeds:
    """Return what the pods of a level take of the nodes; pods that no pool takes are left out."""
    items = split_demand(sizer.demand, level)
    limits = [(offer.name, offer.count_min, offer.count_max) for offer in sizer.offers]
    found = find_compatibility(items.items, items.daemons, sizer.nodes, limits)
    rows = [rows for rows, _ in pool_rows(found)]
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
            )
            for index, item in enumerate(found.items)
            if found.takers[index]
        ),
        capacities=tuple(tuple(row.capacity for row in each) for each in rows),
        devices=tuple(tuple(row.name.startswith("devices ") for row in each) for each in rows),
    )
