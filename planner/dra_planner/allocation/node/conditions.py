"""Problems of nodes that Kubernetes marks with taints. Pods that tolerate such a taint can't run on
the node either.

Source: https://kubernetes.io/docs/reference/labels-annotations-taints/
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from dra_planner.model import Reason, Taint


class _Condition(NamedTuple):
    problem: str
    fix: str


_CONDITIONS: Final[Mapping[str, _Condition]] = MappingProxyType(
    {
        "node.kubernetes.io/not-ready": _Condition("isn't ready", "repair the node"),
        "node.kubernetes.io/unreachable": _Condition("is unreachable", "repair the node"),
        "node.kubernetes.io/out-of-service": _Condition("is out of service", "repair the node"),
        "node.kubernetes.io/memory-pressure": _Condition(
            "is low on memory", "free memory on the node"
        ),
        "node.kubernetes.io/disk-pressure": _Condition(
            "is low on disk space", "free disk space on the node"
        ),
        "node.kubernetes.io/pid-pressure": _Condition(
            "is low on process IDs", "stop processes on the node"
        ),
        "node.kubernetes.io/network-unavailable": _Condition(
            "doesn't have a network route", "repair the cluster's network plugin"
        ),
        "node.cloudprovider.kubernetes.io/uninitialized": _Condition(
            "isn't initialized", "repair the cloud controller manager"
        ),
    }
)


def condition_reason(taint: Taint) -> Reason | None:
    """Return the reason for a node with a problem, or None for a taint with another meaning."""
    condition = _CONDITIONS.get(taint.key)
    if condition is None:
        return None
    return Reason(
        code="node-condition",
        message=f"the node {condition.problem} (taint {taint})",
        fix=condition.fix,
    )
