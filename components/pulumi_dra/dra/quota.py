"""The quota that GKE wants before it admits critical pods outside kube-system."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import ResourceQuotaSpecArgsDict

CRITICAL_CLASSES = ("system-node-critical", "system-cluster-critical")


def critical_pods_quota(max_nodes: int, controllers: int) -> ResourceQuotaSpecArgsDict:
    """Return the spec of a ResourceQuota for one plugin pod on each node that may ever be there, and controllers.

    A quota that is too small leaves the last nodes without driver, with an event on the DaemonSet as the only sign.
    """
    return {
        "hard": {"pods": str(max_nodes + controllers)},
        "scope_selector": {
            "match_expressions": [{"scope_name": "PriorityClass", "operator": "In", "values": list(CRITICAL_CLASSES)}]
        },
    }


def needs_quota(platform: str, priority_class: str) -> bool:
    """Whether critical pods need a quota there: on GKE, for the two built-in critical classes."""
    return platform == "gke" and priority_class in CRITICAL_CLASSES
