"""Inputs of a fleet's pool on EKS, for managed node groups and Karpenter: zones, EFA, capacity."""

from typing import Any

from dra_planner.clouds import AllocatableSettings
from dra_planner.clouds.eks.addresses import max_pods
from dra_planner.drivers.dranet import DRIVER as DRANET
from dra_planner.fleet import Fleet, Pool


def zones_of(fleet: Fleet, pool: Pool) -> list[str]:
    """Return the zones of a pool by name: its own, otherwise the fleet's, otherwise none."""
    zones = fleet.network.zones
    return list(pool.zones) or (list(zones) if isinstance(zones, list) else [])


def has_claimable_efa(fleet: Fleet, pool: Pool) -> bool:
    """Return whether DRANET publishes EFA interfaces of this pool, so that the pool needs them."""
    return fleet.drivers.of(DRANET) is not None and bool(fleet.machine(pool.machine).efa_interfaces)


def capacity_args(pool: Pool) -> dict[str, str]:
    """Return the inputs for a pool's capacity."""
    bought = {"reservation_id": pool.source.reservation} if pool.source.reservation else {}
    return {"capacity": pool.source.kind, **bought}


def image_args(pool: Pool) -> dict[str, Any]:
    """Return the inputs for a pool's custom image, empty for the EKS image."""
    return {"image_id": pool.image.id, "image": pool.image.family} if pool.image else {}


def planned_pods(fleet: Fleet, pool: Pool) -> int:
    """Return the planned number of pods per node, for autoscalers that would compute a different
    number.
    """
    settings = AllocatableSettings(
        max_pods=pool.max_pods, prefix_delegation=fleet.network.prefix_delegation
    )
    return max_pods(fleet.machine(pool.machine), settings)[0]
