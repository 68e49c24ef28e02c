"""Pulumi waits for a change of a pool until all of its nodes have been replaced one after the
other.
"""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from pulumi_dra.aks import AksGpuPool
from pulumi_dra.eks import EksGpuPool
from pulumi_dra.gke import GkeGpuPool

POOLS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "eks": (
        EksGpuPool,
        {
            "cluster_name": "dev",
            "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
            "subnet_ids": ["subnet-a"],
            "machine": "g6.2xlarge",
        },
        "NodeGroup",
    ),
    "gke": (
        GkeGpuPool,
        {
            "cluster_name": "dev",
            "location": "us-central1",
            "machine": "g2-standard-8",
            "zones": ["us-central1-a"],
            "service_account": "nodes@p.example",
        },
        "NodePool",
    ),
    "aks": (
        AksGpuPool,
        {
            "cluster_name": "dev",
            "resource_group_name": "group",
            "subnet_id": "subnet",
            "location": "eastus",
            "machine": "Standard_NC4as_T4_v3",
        },
        "AgentPool",
    ),
}


@pytest.fixture
def waits(declare: Callable[..., Any]) -> Callable[..., str]:
    """Return how long Pulumi waits for a change of a cloud's pool."""

    def minutes_of(cloud: str, opts: pulumi.ResourceOptions | None = None, **args: Any) -> str:
        component, plain, kind = POOLS[cloud]
        minutes: str = (
            declare(lambda: component("gpus", {**plain, **args}, opts)).one(kind).update_minutes
        )
        return minutes

    return minutes_of


@pytest.mark.parametrize(
    ("cloud", "args", "minutes"),
    [
        pytest.param("eks", {"max_nodes": 4}, "120m", id="EKS, few nodes"),
        pytest.param(
            "eks",
            {"max_nodes": 20},
            "500m",
            id="EKS, 15 minutes to drain and 10 to start each node",
        ),
        pytest.param(
            "eks", {"max_nodes": 20, "max_unavailable": 3}, "175m", id="EKS, three at once"
        ),
        pytest.param("gke", {"max_nodes": 20}, "1400m", id="GKE, an hour for the pods of a node"),
        pytest.param(
            "gke",
            {"max_nodes": 20, "max_surge": 2, "max_unavailable": 3},
            "280m",
            id="GKE, five at once",
        ),
        pytest.param("gke", {"max_nodes": 1}, "120m", id="GKE, one node"),
        pytest.param(
            "aks", {"max_nodes": 20}, "800m", id="AKS, half an hour for the pods of a node"
        ),
        pytest.param(
            "aks",
            {"max_nodes": 20, "drain_timeout_minutes": 60, "max_surge": 4},
            "350m",
            id="AKS, custom drain timeout",
        ),
        pytest.param(
            "aks", {"max_nodes": 20, "capacity": "spot"}, "200m", id="AKS, Spot is not drained"
        ),
    ],
)
def test_timeout_covers_all_nodes(
    waits: Any, cloud: str, args: dict[str, Any], minutes: str
) -> None:
    assert waits(cloud, **args) == minutes


@pytest.mark.parametrize("cloud", POOLS)
def test_custom_timeouts_take_precedence(waits: Any, cloud: str) -> None:
    options = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(update="30m"))
    assert waits(cloud, options, max_nodes=20) == "30m"
