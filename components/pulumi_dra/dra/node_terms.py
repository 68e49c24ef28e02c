"""Node selection for the pods of drivers and the device plugin, by the labels and the taint of DRA
pools.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from dra_planner.clouds import DRA, GPU_TAINT, cloud
from dra_planner.fleet import Fleet

GPU_TOLERATION: dict[str, str] = {
    "key": GPU_TAINT.key,
    "operator": "Exists",
    "effect": GPU_TAINT.effect,
}


def dra_node_terms() -> list[dict[str, Any]]:
    """Return the node-selector terms of pods that must run only on DRA nodes."""
    return [{"matchExpressions": [{"key": DRA, "operator": "In", "values": ["true"]}]}]


def without_dra_nodes(terms: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return these node-selector terms with DRA nodes excluded in each.

    Terms are ORed, so a term without the exclusion would allow DRA nodes again. No terms means
    every node, so the result is one term with only the exclusion.
    """
    exclusion = {"key": DRA, "operator": "NotIn", "values": ["true"]}
    return [
        {**term, "matchExpressions": [*(term.get("matchExpressions") or []), exclusion]}
        for term in list(terms) or [{}]
    ]


def device_tolerations(fleet: Fleet) -> list[dict[str, str]]:
    """Return tolerations of the taints that this project sets on the fleet's pools for their
    accelerators.
    """
    taints = {
        taint
        for pool in fleet.pools
        for taint in cloud(fleet.cloud).taints(fleet.nodes_of(pool, fleet.machine(pool.machine)))
    }
    return [
        {"key": each.key, "effect": each.effect}
        for each in sorted(taints, key=lambda each: each.key)
    ]


def pool_tolerations(fleet: Fleet) -> list[dict[str, str]]:
    """Return the tolerations that the driver needs to run on every pool, in addition to the common
    taint.

    They cover the pools' own taints and the taints that the cloud adds to their nodes.
    """
    keys = {taint.key for pool in fleet.pools for taint in pool.taints}
    for pool in fleet.pools:
        nodes = fleet.nodes_of(pool, fleet.machine(pool.machine))
        keys |= {
            taint.key
            for taint in cloud(fleet.cloud).added_taints(nodes)
            if taint.effect != "PreferNoSchedule"
        }
    return [{"key": key} for key in sorted(keys)]
