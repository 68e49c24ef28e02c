"""NodeResourcesFit: requires the requested resources on the node, and scores how full the pod makes
it.

The strategy is an argument of the plugin in a profile: LeastAllocated, MostAllocated, or
RequestedToCapacityRatio. The arithmetic is the same as upstream, in integers, because one point can
change the result. Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources/{fit,least_allocated,
most_allocated,requested_to_capacity_ratio,resource_allocation}.go and plugins/helper/shape_score.go
@v1.34.9 to v1.37.1.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import floor

from dra_planner.model import Node
from dra_planner.releases import Features
from dra_planner.simulation.cluster.pod_requests import PodAmounts
from dra_planner.simulation.cluster.stages import NodeLoad
from dra_planner.simulation.plugins.plugin import MAX_SCORE, Plugin
from dra_planner.simulation.scheduler.profile import FitArguments, Profile

_HIGHEST_POINT = 10


def score_fit(
    amounts: PodAmounts, node: Node, _features: Features, profile: Profile
) -> Callable[[NodeLoad], int]:
    """Return a function that scores loads of nodes like this one, including the pod."""
    arguments = profile.fit
    more_cpu, more_memory = amounts.scored
    have_cpu, have_memory = node.allocatable.get("cpu", 0), node.allocatable.get("memory", 0)
    cpu_weight, memory_weight = arguments.resources
    weights = (cpu_weight if have_cpu else 0) + (memory_weight if have_memory else 0)
    score_amount = _strategy(arguments)

    def score(load: NodeLoad) -> int:
        cpu, memory = load.scored
        total = 0
        if have_cpu:
            total += cpu_weight * score_amount(cpu + more_cpu, have_cpu)
        if have_memory:
            total += memory_weight * score_amount(memory + more_memory, have_memory)
        return total // weights if weights else 0

    def score_ratio(load: NodeLoad) -> int:
        parts = zip(
            load.scored, amounts.scored, (have_cpu, have_memory), arguments.resources, strict=True
        )
        scored = [
            (score_amount(used + more, have), weight) for used, more, have, weight in parts if have
        ]
        weights = sum(weight for score, weight in scored if score > 0)
        return (
            floor(sum(score * weight for score, weight in scored) / weights + 0.5) if weights else 0
        )

    return score_ratio if arguments.strategy == "RequestedToCapacityRatio" else score


def _strategy(arguments: FitArguments) -> Callable[[int, int], int]:
    """Return the function that scores one resource from its requested amount and the
    node's amount.
    """
    if arguments.strategy == "LeastAllocated":
        return lambda want, have: (have - want) * MAX_SCORE // have if want <= have else 0
    if arguments.strategy == "MostAllocated":
        return lambda want, have: min(want, have) * MAX_SCORE // have
    points = [(at, score * MAX_SCORE // _HIGHEST_POINT) for at, score in arguments.shape]
    return lambda want, have: _on_line(
        MAX_SCORE if want > have else want * MAX_SCORE // have, points
    )


def _on_line(utilization: int, points: list[tuple[int, int]]) -> int:
    """Return the score for a utilization, by linear interpolation between the points."""
    for (left, low), (right, high) in pairwise(points):
        if left < utilization <= right:
            step = (high - low) * (utilization - left)
            # toward 0, as in Go's division
            return low + (abs(step) // (right - left)) * (1 if step >= 0 else -1)
    return points[0][1] if utilization <= points[0][0] else points[-1][1]


PLUGIN = Plugin(
    name="NodeResourcesFit",
    order=60,
    rejects=frozenset({"resources"}),
    helped=frozenset({"resources"}),
    weight=1,
    by_load=score_fit,
)
