"""Pools as custom rules read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from dra_planner.catalog import HOURS_PER_MONTH, find_machine
from dra_planner.cel.values import MapValue
from dra_planner.drivers.nvidia import gpu
from dra_planner.errors import CatalogError
from dra_planner.fleet import Fleet
from dra_planner.plan import Plan
from dra_planner.plan.model import PlannedPool
from dra_planner.plan.nodes.devices import KindCount
from dra_policies.configuration.custom.object_values import (
    in_dollars,
    multiply,
    object_value,
)

_HOSTNAME: Final = "kubernetes.io/hostname"  # this value differs between nodes


def pool_value(plan: Plan, pool: PlannedPool, nodes: int, devices: Sequence[KindCount]) -> MapValue:
    """Return a pool, with the number of nodes that the plan builds, and the devices on them."""
    offer = next(each for each in plan.offers if each.name == pool.name)
    hourly = multiply(pool.hourly_usd, nodes)
    return object_value(
        "Pool",
        {
            "name": pool.name,
            "machine": pool.machine,
            **_gpus(pool.machine),
            **_declared(plan.fleet, pool.name),
            **zones_of(plan, [pool.name]),
            "labels": MapValue.of_strings(
                {key: value for key, value in offer.node.meta.labels.items() if key != _HOSTNAME}
            ),
            "taints": [str(taint) for taint in offer.node.taints],
            "nodes": nodes,
            "minNodes": pool.nodes.minimum,
            "maxNodes": pool.nodes.maximum,
            "devices": sum(kind.total for kind in devices),
            "usedDevices": sum(kind.used for kind in devices),
            "nodeHourlyCost": in_dollars(pool.hourly_usd),
            "hourlyCost": in_dollars(hourly),
            "monthlyCost": in_dollars(multiply(hourly, HOURS_PER_MONTH)),
            "maxMonthlyCost": in_dollars(
                multiply(pool.hourly_usd, pool.nodes.maximum * HOURS_PER_MONTH)
            ),
        },
        f'pool "{pool.name}"',
    )


def _gpus(machine: str) -> dict[str, Any]:
    try:
        found = find_machine(machine)
    except CatalogError:
        return {}
    accelerator = found.accelerator
    if accelerator is None or not accelerator.gpu:
        return {"gpu": "", "gpusPerNode": 0}
    return {"gpu": gpu(accelerator.gpu).product_name, "gpusPerNode": accelerator.count}


def _declared(fleet: Fleet | None, name: str) -> dict[str, Any]:
    if fleet is None:
        return {}
    pool = fleet.pool(name)
    if isinstance(pool.capacity, str):
        return {"capacity": pool.capacity, "mig": pool.mig}
    kind = "reservation" if hasattr(pool.capacity, "reservation") else "capacity-block"
    return {"capacity": kind, "mig": pool.mig}


def zones_of(plan: Plan, pools: Collection[str]) -> dict[str, Any]:
    """Return the zones of these pools and the number of zones, if the fleet states them."""
    zones = {offer.name: offer.zones for offer in plan.offers if offer.name in pools}
    named = {zone for each in zones.values() for zone in each}
    if all(zones.values()):
        return {"zones": sorted(named), "zoneCount": len(named)}
    fleet = plan.fleet
    if fleet is None or fleet.network.subnet_ids or not isinstance(fleet.network.zones, int):
        return {}
    return {"zoneCount": max(fleet.network.zones, len(named))}
