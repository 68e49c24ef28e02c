"""The agent pools of a simulated Azure, those inside their clusters too, and how many nodes a
change adds to one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """A pool that a request makes or changes: the pool as it is to be, as it was, and its
    cluster.
    """

    identifier: str
    wanted: Values
    before: Values | None
    cluster: Values

    @property
    def more_nodes(self) -> int:
        """How many nodes come to those that are there."""
        return max(0, count(self.wanted) - count(self.before or {}))

    @property
    def surge(self) -> int:
        """How many nodes an upgrade starts before old ones go; 0 without one.

        learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling: 10 % by default, rounded up,
        one at least.
        """
        nodes = count(self.wanted)
        if not self.is_upgraded or self.wanted.get("scaleSetPriority") == "Spot":
            return 0
        said = str((self.wanted.get("upgradeSettings") or {}).get("maxSurge") or "10%")
        return math.ceil(nodes * int(said.rstrip("%")) / 100) if said.endswith("%") else int(said)

    @property
    def is_upgraded(self) -> bool:
        """Whether the version of nodes that are there changes."""
        if self.before is None:
            return False
        then, now = (
            str(side.get("orchestratorVersion") or "") for side in (self.before, self.wanted)
        )
        return bool(now) and newest(then) != newest(now)


def changes(request: CloudRequest) -> Iterator[PoolChange]:
    """Return the pools that a request for a pool, or for a cluster with pools inside, makes or
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
    """Return every pool that is there: its identifier, itself and its cluster."""
    clusters = cloud.all(CLUSTER)
    for identifier, cluster in clusters.items():
        for pool in cluster.get("agentPoolProfiles") or []:
            yield f"{identifier}/agentPools/{pool['name']}", pool, cluster
    for identifier, pool in cloud.all(POOL).items():
        yield identifier, pool, cluster_of(cloud, identifier) or {}


def cluster_of(cloud: Memory, pool: str) -> Values | None:
    """Return the cluster of a pool's identifier, None where there is none; case does not matter in
    Azure.
    """
    wanted = pool.rpartition("/agentPools/")[0].lower()
    return next((each for name, each in cloud.all(CLUSTER).items() if name.lower() == wanted), None)


def most_nodes(pool: Values) -> int:
    """Return how many nodes a pool may have: with the autoscaler its maximum."""
    return int((pool.get("maxCount") if pool.get("enableAutoScaling") else pool.get("count")) or 0)


def cores(pool: Values) -> int:
    """Return the cores of one node; 0 for a size that no table has."""
    try:
        return catalog.machine("aks", str(pool.get("vmSize"))).vcpus or 0
    except CatalogError:
        return 0


def count(pool: Values) -> int:
    """Return how many nodes a pool has."""
    return int(pool.get("count") or 0)
