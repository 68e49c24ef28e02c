"""A fleet as a description of its cluster, from which another tool's files are written."""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.clouds import cloud
from dra_planner.clouds.foreign import ForeignCluster, ForeignPool
from dra_planner.fleet import Fleet, Pool
from dra_planner.model import Taint

_SYSTEM = "system"


def describe_fleet(fleet: Fleet, name: str, nodes: Mapping[str, int]) -> ForeignCluster:
    """Return the cluster of a fleet, starting with its system pool.

    `nodes` are minimums by pool, for pools whose plan needs more nodes than their minimum.
    """
    system = ForeignPool(
        name=_SYSTEM,
        machines=(fleet.system_pool.machine,),
        minimum=fleet.system_pool.count,
        maximum=fleet.system_pool.count,
    )
    return ForeignCluster(
        name=name,
        cloud=fleet.cloud,
        region=fleet.region,
        kubernetes=fleet.kubernetes,
        autoscaler=fleet.autoscaler,
        pools=(system, *(_pool(fleet, pool, nodes.get(pool.name, 0)) for pool in fleet.pools)),
    )


def _pool(fleet: Fleet, pool: Pool, nodes: int) -> ForeignPool:
    of_cloud = cloud(fleet.cloud)
    origin = fleet.nodes_of(pool, fleet.machine(pool.machine))
    own = [Taint(key=each.key, value=each.value, effect=each.effect) for each in pool.taints]
    return ForeignPool(
        name=pool.name,
        machines=(pool.machine,),
        minimum=max(pool.count.min, nodes),
        maximum=pool.count.max,
        zones=tuple(pool.zones),
        capacity=pool.source.kind,
        reservation=pool.source.reservation,
        labels={**{each.key: each.value for each in of_cloud.labels(origin)}, **pool.labels},
        taints=(*of_cloud.taints(origin), *own),
        mig="" if pool.mig == "none" else pool.mig,
    )
