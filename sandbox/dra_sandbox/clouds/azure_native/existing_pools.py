"""Agent pools in the simulated Azure, including pools inside clusters, and the nodes that a
change adds to a pool.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from dra_planner import catalog
from dra_planner.errors import CatalogError
from dra_sandbox.clouds.azure_native.functions import newest
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

CLUSTER, POOL = (
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
)


class PoolChange(Struct, frozen=True, kw_only=True):
    """A pool that a request creates or changes: the new pool, the old one, and its cluster."""

    identifier: str
    wanted: Values
    before: Values | None
    cluster: Values

    @property
    def more_nodes(self) -> int:
        """Number of nodes that the change adds."""
        return max(0, count(self.wanted) - count(self.before or {}))

    @property
    def surge(self) -> int:
        """Number of nodes that an upgrade starts before it removes old nodes, or 0 if there is no
        upgrade. The default is 10 %, rounded up, but at least one node:
        learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling.
        """
        nodes = count(self.wanted)
        if not self.is_upgraded or self.wanted.get("scaleSetPriority") == "Spot":
            return 0
        setting = str((self.wanted.get("upgradeSettings") or {}).get("maxSurge") or "10%")
        return (
            math.ceil(nodes * int(setting.rstrip("%")) / 100)
            if setting.endswith("%")
            else int(setting)
        )

    @property
    def is_upgraded(self) -> bool:
        """Return True if the change sets a different version for existing nodes."""
        if self.before is None:
            return False
        then, now = (
            str(side.get("orchestratorVersion") or "") for side in (self.before, self.wanted)
        )
        return bool(now) and newest(then) != newest(now)


def changes(request: CloudRequest) -> Iterator[PoolChange]:
    """Return the pools that a request for a pool, or for a cluster with inner pools, creates or
    changes.
    """
    if request.inputs is None:
        return
    if "/agentPools/" in request.identifier:
        if cluster := cluster_of(request.cloud, request.identifier):
            yield PoolChange(
                identifier=request.identifier,
                wanted=request.inputs,
                before=request.before,
                cluster=cluster,
            )
        return
    before = {each["name"]: each for each in (request.before or {}).get("agentPoolProfiles") or []}
    for pool in request.inputs.get("agentPoolProfiles") or []:
        yield PoolChange(
            identifier=f"{request.identifier}/agentPools/{pool['name']}",
            wanted=pool,
            before=before.get(pool["name"]),
            cluster=request.inputs,
        )


def present(cloud: Memory) -> Iterator[tuple[str, Values, Values]]:
    """Return the identifier, the properties, and the cluster of every existing pool."""
    clusters = cloud.all(CLUSTER)
    for identifier, cluster in clusters.items():
        for pool in cluster.get("agentPoolProfiles") or []:
            yield f"{identifier}/agentPools/{pool['name']}", pool, cluster
    for identifier, pool in cloud.all(POOL).items():
        yield identifier, pool, cluster_of(cloud, identifier) or {}


def cluster_of(cloud: Memory, pool: str) -> Values | None:
    """Return the cluster to which a pool's identifier belongs, or None.

    Azure IDs are case-insensitive.
    """
    wanted = pool.rpartition("/agentPools/")[0].lower()
    return next((each for name, each in cloud.all(CLUSTER).items() if name.lower() == wanted), None)


def most_nodes(pool: Values) -> int:
    """Return the maximum number of nodes of a pool. With the autoscaler, this is its
    maximum count.
    """
    return int((pool.get("maxCount") if pool.get("enableAutoScaling") else pool.get("count")) or 0)


def cores(pool: Values) -> int:
    """Return the number of cores of a node, or 0 for a size that isn't in the tables."""
    try:
        return catalog.machine("aks", str(pool.get("vmSize"))).vcpus or 0
    except CatalogError:
        return 0


def count(pool: Values) -> int:
    """Return the number of nodes of a pool."""
    return int(pool.get("count") or 0)
