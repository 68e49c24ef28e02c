"""The quota that GKE wants before it admits critical pods outside kube-system."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from dra_planner.clouds import cloud
from pulumi_dra.dra.nvidia.driver_values import GPU_OPERATOR, DriverSettings

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import ResourceQuotaSpecArgsDict

CRITICAL_CLASSES = ("system-node-critical", "system-cluster-critical")


def critical_pods(settings: DriverSettings, max_nodes: int) -> int:
    """Return how many pods with a critical priority there may be at once; 0 where the platform
    needs no quota.

    One plugin on each node that may ever be there. A Deployment that is being updated has a quarter
    more pods than replicas, rounded up (its default maxSurge): without room for them the update of
    controller and webhook would wait for ever once every node is there.
    """
    if settings.platform == GPU_OPERATOR or not cloud(settings.platform).critical_pods_need_quota:
        return 0
    pods = 0
    if settings.priority_class in CRITICAL_CLASSES:
        pods += max_nodes + (_with_surge(1) if settings.compute_domains else 0)
    if settings.webhook and settings.webhook_priority in CRITICAL_CLASSES:
        pods += _with_surge(settings.webhook.replicas)
    return pods


def critical_pods_quota(pods: int) -> ResourceQuotaSpecArgsDict:
    """Return the spec of a ResourceQuota for so many pods of the two critical classes.

    A quota that is too small leaves the last nodes without driver, with an event on the DaemonSet
    as the only sign.
    """
    return {
        "hard": {"pods": str(pods)},
        "scope_selector": {
            "match_expressions": [
                {"scope_name": "PriorityClass", "operator": "In", "values": list(CRITICAL_CLASSES)}
            ]
        },
    }


def _with_surge(replicas: int) -> int:
    return replicas + ceil(replicas / 4)
