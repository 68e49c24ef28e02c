"""Functions of the Azure SDK that look up resources in the memory of the simulated cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_sandbox.clouds.azure_native.existing_pools import CLUSTER, present
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.wire_values import Values

_OF_A_CLUSTER = (
    "location",
    "kubernetesVersion",
    "currentKubernetesVersion",
    "provisioningState",
    "fqdn",
    "tags",
)
_OF_A_POOL = (
    "count",
    "enableAutoScaling",
    "minCount",
    "maxCount",
    "mode",
    "vmSize",
    "currentOrchestratorVersion",
)


def lookups(memory: Memory) -> Mapping[str, Callable[[Values, Mapping[str, str]], Values]]:
    """Return the functions that look up resources in `memory`."""

    def managed_cluster(arguments: Values, place: Mapping[str, str]) -> Values:
        """Return a cluster with all of its pools: the pools inside it, and separate pool
        resources.
        """
        group, name = arguments["resourceGroupName"], arguments["resourceName"]
        end = f"/resourcegroups/{group}/providers/microsoft.containerservice/managedclusters/{name}".lower()
        found = next(
            (each for each in memory.all(CLUSTER).items() if each[0].lower().endswith(end)), None
        )
        if found is None:
            raise ValueError(
                f"ResourceNotFound: The Resource 'managedClusters/{name}' was not found."
            )
        identifier, cluster = found
        pools = [
            {
                "name": pool.rpartition("/")[2],
                **{key: its[key] for key in _OF_A_POOL if its.get(key) is not None},
            }
            for pool, its, _ in present(memory)
            if pool.lower().startswith(f"{identifier.lower()}/")
        ]
        known = {key: cluster[key] for key in _OF_A_CLUSTER if cluster.get(key) is not None}
        return {**known, "id": identifier, "name": name, "agentPoolProfiles": pools}

    return {"azure-native:containerservice:getManagedCluster": managed_cluster}
