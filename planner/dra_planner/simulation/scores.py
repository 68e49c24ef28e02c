"""Scores of one node for one pod from cpu and memory: NodeResourcesFit and NodeResourcesBalancedAllocation.

The arithmetic is upstream's, integers where it has integers and doubles where it has doubles, since a difference of
one point decides.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources/{least_allocated,
most_allocated,requested_to_capacity_ratio,balanced_allocation,resource_allocation}.go @v1.34.9 to v1.37.1.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import floor
from typing import NamedTuple

from dra_planner.model import Amounts, Container, PodSpec
from dra_planner.offers import pod_requests
from dra_planner.simulation.profile import Profile

MAX_SCORE = 100
_DEFAULT_CPU, _DEFAULT_MEMORY = 100, 200 * 1024 * 1024
_HIGHEST_POINT = 10


class CpuMemory(NamedTuple):
    """Amounts of cpu, in thousandths of a core, and memory, in bytes."""

    cpu: int
    memory: int

    def plus(self, other: CpuMemory) -> CpuMemory:
        return CpuMemory(self.cpu + other.cpu, self.memory + other.memory)

    def minus(self, other: CpuMemory) -> CpuMemory:
        return CpuMemory(self.cpu - other.cpu, self.memory - other.memory)


NOTHING = CpuMemory(0, 0)


def requested(pod: PodSpec) -> CpuMemory:
    """Return what a pod requests of cpu and memory."""
    amounts = pod_requests(pod)
    return CpuMemory(amounts.get("cpu", 0), amounts.get("memory", 0))


def requested_for_score(pod: PodSpec) -> CpuMemory:
    """Return the same where a container without a request counts as 100m of cpu and 200 MiB of memory."""
    return requested(
        replace(
            pod,
            containers=tuple(_with_defaults(each) for each in pod.containers),
            init_containers=tuple(_with_defaults(each) for each in pod.init_containers),
        )
    )


def _with_defaults(container: Container) -> Container:
    defaults = {"cpu": _DEFAULT_CPU, "memory": _DEFAULT_MEMORY}
    return replace(container, requests={**defaults, **container.limits, **container.requests})


def scored_amounts(amounts: Amounts, containers: int) -> CpuMemory:
    """Return the same of a pod that is known by its amounts and its number of containers alone."""
    return CpuMemory(
        amounts.get("cpu", 0) or _DEFAULT_CPU * containers, amounts.get("memory", 0) or _DEFAULT_MEMORY * containers
    )


def fit_score(used: CpuMemory, allocatable: CpuMemory, profile: Profile) -> int:
    """Return the score of a node on which `used` is requested, the pod included (`requested_for_score`)."""
    scores = [_resource_score(want, have, profile) for want, have in zip(used, allocatable, strict=True) if have]
    if profile.strategy == "requested-to-capacity-ratio":
        scores = [score for score in scores if score > 0]
        return floor(sum(scores) / len(scores) + 0.5) if scores else 0
    return sum(scores) // len(scores) if scores else 0


def _resource_score(want: int, have: int, profile: Profile) -> int:
    match profile.strategy:
        case "least-allocated":
            return (have - want) * MAX_SCORE // have if want <= have else 0
        case "most-allocated":
            return min(want, have) * MAX_SCORE // have
        case "requested-to-capacity-ratio":
            return _on_line(MAX_SCORE if want > have else want * MAX_SCORE // have, profile.ratio)


def _on_line(utilization: int, points: tuple[tuple[int, int], ...]) -> int:
    scaled = [(at, score * MAX_SCORE // _HIGHEST_POINT) for at, score in points]
    for (left, low), (right, high) in pairwise(scaled):
        if left < utilization <= right:
            step = (high - low) * (utilization - left)
            return low + (abs(step) // (right - left)) * (1 if step >= 0 else -1)  # towards 0, as Go divides
    return scaled[0][1] if utilization <= scaled[0][0] else scaled[-1][1]


def balance_score(before: CpuMemory, after: CpuMemory, allocatable: CpuMemory, *, by_change: bool) -> int:
    """Return the score of a node by how even its use of cpu and memory is, the pod not and then included.

    `by_change`: what the pod changes counts, not what it comes to. Both amounts are what pods really request.
    """
    with_pod = _evenness(after, allocatable)
    if not by_change:
        return with_pod
    change = MAX_SCORE // 2 + with_pod - _evenness(before, allocatable)
    return MAX_SCORE // 2 + change // 2


def _evenness(used: CpuMemory, allocatable: CpuMemory) -> int:
    shares = [min(want / have, 1.0) for want, have in zip(used, allocatable, strict=True) if have]
    deviation = abs((shares[0] - shares[1]) / 2) if len(shares) == len(CpuMemory._fields) else 0.0
    return int((1 - deviation) * MAX_SCORE)
