"""Clusters as other tools describe them: Terraform, eksctl, Karpenter, and Cluster API.

`read_foreign_clusters(documents)` returns the clusters in plain data from any of these tools. The
result is empty for other data.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from dra_planner.clouds.foreign.cluster_api import is_machine_set, read_cluster_api
from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.eksctl import is_eksctl, read_eksctl
from dra_planner.clouds.foreign.karpenter import is_node_pool, read_node_pools
from dra_planner.clouds.foreign.terraform import (
    is_terraform,
    read_configuration,
    state_file_fault,
)
from dra_planner.clouds.foreign.terraform_aks import read_aks
from dra_planner.clouds.foreign.terraform_eks import read_eks
from dra_planner.clouds.foreign.terraform_gke import read_gke
from dra_planner.clouds.foreign.terraform_variables import (
    is_terraform_variables,
    read_terraform_variables,
)

__all__ = [
    "ForeignCluster",
    "ForeignPool",
    "is_foreign",
    "read_foreign_clusters",
    "state_file_fault",
]


def is_foreign(documents: Sequence[Any]) -> bool:
    """Return whether another tool wrote the data."""
    return any(
        is_terraform(each)
        or is_terraform_variables(each)
        or (
            isinstance(each, Mapping)
            and (is_eksctl(each) or is_node_pool(each) or is_machine_set(each))
        )
        for each in documents
    )


def read_foreign_clusters(
    documents: Sequence[Any], machines: Collection[str] = ()
) -> tuple[ForeignCluster, ...]:
    """Return the clusters that documents describe, in the order of the documents.

    If the documents contain one eksctl cluster, their NodePools belong to it. `machines` are the
    machine types to choose from NodePools.
    """
    found: list[ForeignCluster] = []
    objects = [each for each in documents if isinstance(each, Mapping)]
    for each in objects:
        if is_terraform(each):
            configuration = read_configuration(each)
            found += [*read_eks(configuration), *read_gke(configuration), *read_aks(configuration)]
        elif is_terraform_variables(each):
            found.append(read_terraform_variables(each))
        elif is_eksctl(each):
            found.append(read_eksctl(each))
    if any(map(is_node_pool, objects)):
        found = _with_node_pools(found, read_node_pools(objects, machines))
    of_cluster_api = read_cluster_api(objects)
    return (*found, of_cluster_api) if of_cluster_api is not None else tuple(found)


def _with_node_pools(
    found: list[ForeignCluster], of_karpenter: ForeignCluster
) -> list[ForeignCluster]:
    """Return the clusters with NodePools, which belong to the only EKS cluster, or otherwise to a
    new cluster.
    """
    if len(found) != 1 or found[0].cloud != of_karpenter.cloud:
        return [*found, of_karpenter]
    (cluster,) = found
    return [
        replace(
            cluster,
            autoscaler=of_karpenter.autoscaler,
            has_single_zones=True,
            pools=(*cluster.pools, *of_karpenter.pools),
            notes=(*cluster.notes, *of_karpenter.notes),
        )
    ]
