"""How a scheduler weighs the nodes that take a pod: which plugins score, and what each weighs.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/apis/config/v1/default_plugins.go @v1.34.9, v1.35.4,
v1.36.3 and v1.37.1, which agree but for the score of alternatives (none in 1.34) and that of balance (see `scores`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["least-allocated", "most-allocated", "requested-to-capacity-ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Weights by plugin, and what NodeResourcesFit prefers.

    `ratio` are the points of RequestedToCapacityRatio: utilization in percent, and a score of 0 to 10.
    """

    name: str
    strategy: Strategy = "least-allocated"
    ratio: tuple[tuple[int, int], ...] = ()
    taints: int = 3
    preferred_nodes: int = 2
    spread: int = 2
    preferred_pods: int = 2
    alternatives: int = 2
    fit: int = 1
    balance: int = 1


DEFAULT = Profile(name="default-scheduler")
MOST_ALLOCATED = Profile(name="most-allocated", strategy="most-allocated")
"""GKE's autoscaling profile `optimize-utilization` prefers full nodes too; its other weights are not published."""


def requested_to_capacity_ratio(*points: tuple[int, int]) -> Profile:
    """Return the profile that scores utilization by these points, ascending."""
    return Profile(name="requested-to-capacity-ratio", strategy="requested-to-capacity-ratio", ratio=points)
