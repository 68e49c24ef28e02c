"""A stack that somebody else's program made → the fleet document that says the same, to start from."""

from __future__ import annotations

from typing import Any

from dra_planner.clouds import Cloud, PoolNodes, cloud
from dra_policies.rules.view import DeclaredPool
from dra_policies.stack.declared_fleet import declared_fleet, pool_name
from dra_policies.stack.exported import resources_of_state
from dra_policies.stack.views import view_of_stack


def fleet_of_state(text: str, name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fleet that an exported state declares, as plain data without defaults, and what is not known of it.

    Raises PlannerError for what is no state, and for a stack without pools for claims.
    """
    resources = resources_of_state(text, name)
    view = view_of_stack(resources)
    found = declared_fleet(view, resources)
    document: dict[str, Any] = found.fleet.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    of_cloud = cloud(found.fleet.cloud)
    declared = {pool_name(pool): pool for pool in view.pools}
    document["pools"] = [
        {**row, "count": {"min": 0, **row["count"]}, **_own(declared[row["name"]], of_cloud)}
        for row in document["pools"]
    ]
    return document, found.unknowns


def _own(pool: DeclaredPool, of_cloud: Cloud) -> dict[str, Any]:
    """Return the labels and taints that a fleet has to name: neither the drivers' nor the cloud's."""
    labels = {
        key: value
        for key, value in sorted((pool.labels or {}).items())
        if value is not None and not of_cloud.label_fault(key, value)
    }
    ours = {*of_cloud.taints(PoolNodes(name=pool.name or "", machine=None)), *of_cloud.possible_taints}
    taints = [
        {"key": taint.key, "value": taint.value, "effect": taint.effect}
        for taint in pool.taints or ()
        if taint not in ours
    ]
    return {**({"labels": labels} if labels else {}), **({"taints": taints} if taints else {})}
