"""What a pool of a fleet takes on EKS, whoever starts its nodes: zones, EFA, where machines come from."""

from dra_planner import catalog
from dra_planner.fleet import Fleet, Pool


def zones_of(fleet: Fleet, pool: Pool) -> list[str]:
    """Return the zones of a pool by name: its own, else those that the fleet names; none where nothing does."""
    zones = fleet.network.zones
    return list(pool.zones) or (list(zones) if isinstance(zones, list) else [])


def has_claimable_efa(fleet: Fleet, pool: Pool) -> bool:
    """Whether DRANET is to publish EFA interfaces of this pool, which must be there for it."""
    return bool(fleet.drivers.dranet) and bool(catalog.machine(fleet.cloud, pool.machine).efa_interfaces)


def capacity_args(pool: Pool) -> dict[str, str]:
    """Return where a pool's machines come from."""
    bought = {"reservation_id": pool.source.reservation} if pool.source.reservation else {}
    return {"capacity": pool.source.kind, **bought}
