"""A scheduler profile: the weights of its plugins, and their arguments.

Source of the behavior: kubernetes/kubernetes:pkg/scheduler/apis/config/v1/default_plugins.go
@v1.34.9, v1.35.4, v1.36.3 and v1.37.1, which differ only in the score of alternatives (none in
1.34) and the score of balance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from dra_planner.records import equality

Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]


class FitArguments(Struct, frozen=True, kw_only=True):
    """The `scoringStrategy` of NodeResourcesFit.

    `shape` are the points of RequestedToCapacityRatio, ascending: utilization in percent, and a
    score of 0 to 10. `resources` are the weights of cpu and memory; 0 leaves a resource out.
    """

    strategy: Strategy = "LeastAllocated"
    shape: tuple[tuple[int, int], ...] = ()
    resources: tuple[int, int] = (1, 1)


@equality(unhashed=("weights",))
class Profile(Struct, frozen=True, kw_only=True):
    """A profile of kube-scheduler, by the name in the pods' `schedulerName`.

    `weights` are weights of plugins by name that differ from the defaults. 0 disables the score.
    """

    name: str
    fit: FitArguments = FitArguments()
    weights: Mapping[str, int] = {}


DEFAULT = Profile(name="default-scheduler")
MOST_ALLOCATED = Profile(name="most-allocated", fit=FitArguments(strategy="MostAllocated"))
"""GKE's autoscaling profile `optimize-utilization` also prefers full nodes. Its other weights
aren't published.
"""


def requested_to_capacity_ratio(*points: tuple[int, int]) -> Profile:
    """Return the profile that scores utilization by these points, ascending."""
    fit = FitArguments(strategy="RequestedToCapacityRatio", shape=points)
    return Profile(name="requested-to-capacity-ratio", fit=fit)
