"""The quota that GKE requires before it admits critical pods outside kube-system."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from dra_planner.clouds import cloud
from pulumi_dra.dra.nvidia.driver_values import GPU_OPERATOR, DriverSettings

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import ResourceQuotaSpecArgsDict

CRITICAL_CLASSES = ("system-node-critical", "system-cluster-critical")


def critical_pods(settings: DriverSettings, max_nodes: int) -> int:
    """Return the maximum number of pods with a critical priority, or 0 if the platform doesn't need
    a quota.

    It counts one plugin pod per possible node. During an update, a Deployment has a quarter more
    pods than replicas, rounded up (default maxSurge). Without quota for them, updates of controller
    and webhook would stall in a full cluster.
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
    """Return the spec of a ResourceQuota for this number of pods in the two critical priority
    classes.

    If the quota is too small, the last nodes don't get a driver, and only an event of the DaemonSet
    reports this.
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
