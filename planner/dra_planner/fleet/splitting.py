"""A fleet with some of its pools split into parts that share the maximum."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.fleet.pools import Count, Pool
from dra_planner.fleet.schema import Fleet
from dra_planner.model import PoolPart


def split_pools(fleet: Fleet, parts: Iterable[PoolPart]) -> Fleet:
    """Return the fleet with each split pool replaced by its parts. The first part keeps the pool's
    minimum.
    """
    by_pool: dict[str, list[str]] = {}
    for part in parts:
        by_pool.setdefault(part.pool, []).append(part.name)
    if not by_pool:
        return fleet
    pools: list[Pool] = []
    for pool in fleet.pools:
        names = by_pool.get(pool.name)
        if names is None:
            pools.append(pool)
            continue
        for at, name in enumerate(names):
            count = Count(min=0 if at else pool.count.min, max=pool.count.max)
            pools.append(
                pool.model_copy(update={"name": name, "count": count, "part_of": pool.name})
            )
    return fleet.model_copy(update={"pools": pools})
