"""CPU and memory requests of pods: as written in manifests, and as used in node scores.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources/resource_allocation.go and
pkg/scheduler/util/pod_resources.go @v1.34.9 to v1.37.1.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from dra_planner.model import Amounts, Container, PodSpec
from dra_planner.offers import pod_requests

_DEFAULT_CPU, _DEFAULT_MEMORY = 100, 200 * 1024 * 1024


class CpuMemory(NamedTuple):
    """Amounts of cpu, in thousandths of a core, and memory, in bytes."""

    cpu: int
    memory: int

    def plus(self, other: CpuMemory) -> CpuMemory:
        return CpuMemory(self.cpu + other.cpu, self.memory + other.memory)

    def minus(self, other: CpuMemory) -> CpuMemory:
        return CpuMemory(self.cpu - other.cpu, self.memory - other.memory)


NOTHING = CpuMemory(0, 0)


class PodAmounts(NamedTuple):
    """A pod's requests, and their values for node scores. Pods with equal amounts have
    equal loads.
    """

    requested: CpuMemory
    scored: CpuMemory

    @property
    def is_best_effort(self) -> bool:
        """Return whether the pod requests neither CPU nor memory."""
        return not any(self.requested)


def requested(pod: PodSpec) -> CpuMemory:
    """Return a pod's CPU and memory requests."""
    amounts = pod_requests(pod)
    return CpuMemory(amounts.get("cpu", 0), amounts.get("memory", 0))


def requested_for_score(pod: PodSpec) -> CpuMemory:
    """Return a pod's requests for scores: containers without a request count as 100m CPU and 200
    MiB.
    """
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
    """Return the scored amounts of a pod of which only the amounts and the number of containers are
    known.
    """
    return CpuMemory(
        amounts.get("cpu", 0) or _DEFAULT_CPU * containers,
        amounts.get("memory", 0) or _DEFAULT_MEMORY * containers,
    )
