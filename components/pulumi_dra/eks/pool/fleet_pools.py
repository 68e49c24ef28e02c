"""What a pool of a fleet takes on EKS, whoever starts its nodes: zones, EFA, where machines come
from.
"""

from typing import Any

from dra_planner.clouds import AllocatableSettings
from dra_planner.clouds.eks import max_pods
from dra_planner.drivers.dranet import DRIVER as DRANET
from dra_planner.fleet import Fleet, Pool


def zones_of(fleet: Fleet, pool: Pool) -> list[str]:
    """Return the zones of a pool by name: its own, else those that the fleet names; none where
    nothing does.
    """
    zones = fleet.network.zones
    return list(pool.zones) or (list(zones) if isinstance(zones, list) else [])


def has_claimable_efa(fleet: Fleet, pool: Pool) -> bool:
    """Whether DRANET is to publish EFA interfaces of this pool, which must be there for it."""
    return fleet.drivers.of(DRANET) is not None and bool(fleet.machine(pool.machine).efa_interfaces)


def capacity_args(pool: Pool) -> dict[str, str]:
    """Return where a pool's machines come from."""
    bought = {"reservation_id": pool.source.reservation} if pool.source.reservation else {}
    return {"capacity": pool.source.kind, **bought}


def image_args(pool: Pool) -> dict[str, Any]:
    """Return which image of one's own a pool has; nothing for EKS' own."""
    return {"image_id": pool.image.id, "image": pool.image.family} if pool.image else {}


def planned_pods(fleet: Fleet, pool: Pool) -> int:
    """Return how many pods of a node the plan counts on, for whoever would work out another
    number.
    """
    settings = AllocatableSettings(
        max_pods=pool.max_pods, prefix_delegation=fleet.network.prefix_delegation
    )
    return max_pods(fleet.machine(pool.machine), settings)[0]
