"""Machine types and their maximums → a fleet's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds import cloud
from dra_planner.drivers import nvidia
from dra_planner.plan.judgement.simulated_fixes import prefer_others_rows
from dra_planner.plan.suggestion.suggestions import SuggestRequest
from dra_planner.plan.suggestion.system_machine import cheapest_system_machine

NONE_LAST: Mapping[str, int] = MappingProxyType({})


def fleet_document(
    request: SuggestRequest,
    pools: Sequence[tuple[Machine, int]],
    last: Mapping[str, int] = NONE_LAST,
) -> dict[str, Any]:
    """Return a fleet of these machine types with these maximums. Pods use types with a higher
    number in `last` later.
    """
    pool_name = cloud(request.cloud).pool_name
    each_zone_alike = cloud(request.cloud).count_step(2, autoscaled=False).nodes > 1
    return {
        "cloud": request.cloud,
        "region": request.region,
        "kubernetes": request.kubernetes,
        **({"network": {"zones": 1}} if each_zone_alike else {}),
        "systemPool": {"machine": cheapest_system_machine(request.cloud, request.region)},
        "drivers": {"nvidia": {"version": nvidia.newest_driver_release().version}},
        "pools": [
            {
                "name": pool_name(machine.name),
                "machine": machine.name,
                "count": {"min": 0, "max": nodes},
                **(
                    {"taints": prefer_others_rows(level)}
                    if (level := last.get(pool_name(machine.name), 0))
                    else {}
                ),
            }
            for machine, nodes in pools
        ],
    }


def bought_document(
    request: SuggestRequest,
    candidates: Sequence[Machine],
    counts: Mapping[str, int],
    last: Mapping[str, int] = NONE_LAST,
) -> dict[str, Any]:
    chosen = [(machine, counts[machine.name]) for machine in candidates if machine.name in counts]
    return fleet_document(request, chosen, last)
