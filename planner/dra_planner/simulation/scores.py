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
Pair = tuple[int, int]
"""Cpu and memory as `CpuMemory` has them."""


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


def fit_score(used: Pair, allocatable: Pair, profile: Profile) -> int:
    """Return the score of a node on which `used` is requested, the pod included (`requested_for_score`)."""
    strategy, amounts = profile.strategy, zip(used, allocatable, strict=True)
    if strategy == "least-allocated":
        scores = [(have - want) * MAX_SCORE // have if want <= have else 0 for want, have in amounts if have]
    elif strategy == "most-allocated":
        scores = [min(want, have) * MAX_SCORE // have for want, have in amounts if have]
    else:
        shares = [MAX_SCORE if want > have else want * MAX_SCORE // have for want, have in amounts if have]
        scores = [score for score in (_on_line(share, profile.ratio) for share in shares) if score > 0]
        return floor(sum(scores) / len(scores) + 0.5) if scores else 0
    return sum(scores) // len(scores) if scores else 0


def _on_line(utilization: int, points: tuple[tuple[int, int], ...]) -> int:
    scaled = [(at, score * MAX_SCORE // _HIGHEST_POINT) for at, score in points]
    for (left, low), (right, high) in pairwise(scaled):
        if left < utilization <= right:
            step = (high - low) * (utilization - left)
            return low + (abs(step) // (right - left)) * (1 if step >= 0 else -1)  # towards 0, as Go divides
    return scaled[0][1] if utilization <= scaled[0][0] else scaled[-1][1]


def balance_score(before: int | None, after: int) -> int:
    """Return the score of a node by `evenness`, the pod not and then included: by the change, or, where `before` is
    None, by what the pod makes it.
    """
    if before is None:
        return after
    change = MAX_SCORE // 2 + after - before
    return MAX_SCORE // 2 + change // 2


def evenness(used: Pair, allocatable: Pair) -> int:
    """Return how even the use of cpu and memory is, 0 to 100; `used` is what pods really request."""
    (cpu, memory), (have_cpu, have_memory) = used, allocatable
    if not (have_cpu and have_memory):
        return MAX_SCORE
    share_of_cpu, share_of_memory = min(cpu / have_cpu, 1.0), min(memory / have_memory, 1.0)
    return int((1 - abs((share_of_cpu - share_of_memory) / 2)) * MAX_SCORE)
