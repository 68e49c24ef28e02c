"""Write a fleet document for pools and their maximums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dra_planner.clouds import cloud
from dra_planner.drivers import nvidia
from dra_planner.plan.judgement.simulated_fixes import prefer_others_rows
from dra_planner.plan.suggestion.suggestions import PoolType, SuggestRequest
from dra_planner.plan.suggestion.system_machine import cheapest_system_machine

NONE_LAST: Mapping[str, int] = MappingProxyType({})


def fleet_document(
    request: SuggestRequest,
    pools: Sequence[tuple[PoolType, int]],
    last: Mapping[str, int] = NONE_LAST,
) -> dict[str, Any]:
    """Return a fleet of these pools with these maximums. Pods use pools with a higher number in
    `last` later.
    """
    where = cloud(request.cloud)
    each_zone_alike = where.count_step(2, autoscaled=False).nodes > 1
    shares = request.consumable_shares
    sharing = (
        {"featureGates": {"ConsumableShares": True}, "consumableShares": shares} if shares else {}
    )
    return {
        "cloud": request.cloud,
        "region": request.region,
        "kubernetes": request.kubernetes,
        **({"network": {"zones": 1}} if each_zone_alike else {}),
        "systemPool": {
            "machine": request.system_machine
            or cheapest_system_machine(request.cloud, request.region),
            **({"count": request.system_nodes} if request.system_nodes > 2 else {}),
        },
        "drivers": {"nvidia": {"version": nvidia.newest_driver_release().version, **sharing}},
        "pools": [
            {
                "name": pool.name(where),
                "machine": pool.machine.name,
                **({"mig": pool.mig} if pool.mig else {}),
                "count": {"min": 0, "max": nodes},
                **(
                    {"taints": prefer_others_rows(level)}
                    if (level := last.get(pool.name(where), 0))
                    else {}
                ),
            }
            for pool, nodes in pools
        ],
    }


def bought_document(
    request: SuggestRequest,
    candidates: Sequence[PoolType],
    counts: Mapping[str, int],
    last: Mapping[str, int] = NONE_LAST,
) -> dict[str, Any]:
    """Return a fleet of the candidates in `counts`, which contains the maximums by pool name."""
    where = cloud(request.cloud)
    chosen = [(pool, counts[name]) for pool in candidates if (name := pool.name(where)) in counts]
    return fleet_document(request, chosen, last)
