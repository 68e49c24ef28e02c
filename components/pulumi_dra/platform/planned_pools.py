"""Pool inputs that all clouds derive from a fleet and its plan. In a separate module from the
pools' own inputs, which don't need a fleet.
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from msgspec.structs import replace

from dra_planner.clouds import PluginServing, cloud
from dra_planner.errors import RejectedValue
from dra_planner.fleet import Fleet, Pool
from dra_planner.planfile import PlanFile
from pulumi_dra.inputs.machine_facts import planned_facts

IN_THE_FLEET = {
    "disk_gib": "diskGib",
    "max_pods": "maxPods",
    "local_ssds": "localSsds",
    "local_storage": "localStorage",
    "image_id": "image",
    "huge_pages_2mi": "hugePages",
    "huge_pages_1gi": "hugePages",
    "taints": "taints",
    "zones": "zones",
    "capacity": "capacity",
    "mig_layout": "mig",
    "allocation": "allocation",
    "machine": "machine",
    "machine_facts": "catalog",
    "schedule": "schedule",
}
"""Inputs of a pool that affect the plan → their names in the fleet."""

POOL_SET_BY_PLATFORM = {
    "autoscaled": "the fleet's autoscaler",
    "desired_nodes": "the plan",
    "max_nodes": "the plan",
    "min_nodes": "the plan",
    "pool_name": "the pool's name in the fleet",
    **{name: f"the fleet's {key}" for name, key in IN_THE_FLEET.items()},
}
"""Inputs of all clouds' pools that DraPlatform sets, and their sources."""
CLUSTER_SET_BY_PLATFORM = {
    "deletion_protection": "the platform's deletion_protection",
    "kubernetes_version": "the fleet's kubernetes",
    "public_access_cidrs": "the fleet's endpoint.publicAccessCidrs",
    "secrets_kms_key": "the platform's secrets_kms_key",
    "system_count": "the fleet's systemPool.count",
    "system_machine": "the fleet's systemPool.machine",
}
"""Inputs of all clouds' clusters that DraPlatform sets, and their sources."""


def pools_to_build(fleet: Fleet, plan: PlanFile) -> list[Pool]:
    """Return the pools that can have nodes, because no cloud accepts a pool with a maximum of 0."""
    return [pool for pool in fleet.pools if plan.pool(pool.name).nodes.max > 0]


def pods_range_fault(fleet: Fleet, plan: PlanFile, cidr: str) -> RejectedValue | None:
    """Return why the pod CIDR is too small for the plan's nodes, in the fleet's terms, or None."""
    counts = {pool.name: plan.pool(pool.name).nodes for pool in fleet.pools}
    nodes = [
        (counts[pool.name].max if fleet.is_autoscaled else counts[pool.name].desired, pool.max_pods)
        for pool in fleet.pools
    ]
    return cloud(fleet.cloud).pods_range_fault(cidr, nodes, fleet.system_pool.count)


def planned_pool_args(
    fleet: Fleet, plan: PlanFile, pool: Pool, labels: Mapping[str, pulumi.Input[str]]
) -> dict[str, Any]:
    """Return the pool inputs that all clouds derive from the fleet and the plan: machine type,
    counts, and node settings.
    """
    nodes = plan.pool(pool.name).nodes
    return {
        "pool_name": pool.name,
        "machine": pool.machine,
        **({"machine_facts": facts} if (facts := planned_facts(fleet, pool.machine)) else {}),
        "min_nodes": nodes.min,
        "desired_nodes": nodes.desired,
        "max_nodes": nodes.max,
        "autoscaled": fleet.autoscaler != "none",
        "disk_gib": pool.disk_gib,
        "taints": [taint.model_dump(exclude_defaults=True) for taint in pool.taints],
        "labels": {**plugin_labels(fleet, pool), **pool.labels, **labels},
        **({} if pool.is_dra else {"allocation": pool.allocation}),
        **({"max_pods": pool.max_pods} if pool.max_pods else {}),
        **({"local_ssds": pool.local_ssds} if pool.local_ssds else {}),
        **(
            {f"huge_pages_{size.lower()}": count for size, count in pool.huge_pages.counts.items()}
            if pool.huge_pages
            else {}
        ),
        **({"local_storage": pool.local_storage} if pool.local_storage != "none" else {}),
    }


def plugin_labels(fleet: Fleet, pool: Pool) -> dict[str, str]:
    """Return the labels that select the device plugin's configuration for the nodes of a pool."""
    if pool.is_dra:
        return {}
    of_cloud, nodes = cloud(fleet.cloud), fleet.nodes_of(pool, fleet.machine(pool.machine))
    plain = {label.key for label in of_cloud.labels(replace(nodes, plugin=PluginServing()))}
    return {label.key: label.value for label in of_cloud.labels(nodes) if label.key not in plain}
