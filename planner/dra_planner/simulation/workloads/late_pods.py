"""Created pods that don't reach the scheduler yet, because their claims are created late."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.workloads.chances import Chances


class LatePods:
    """The late pods of one turn. They arrive in the next turn."""

    def __init__(self, chances: Chances) -> None:
        self._chances = chances
        self._waiting: list[SimulatedPod] = []
        self._created = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def keep(self, pods: Iterable[SimulatedPod]) -> list[SimulatedPod]:
        """Keep some of the pods with claims, and return the others, which arrive at once."""
        prompt: list[SimulatedPod] = []
        for pod in pods:
            self._created += 1
            claims = pod.kind.shape.claims if pod.kind.shape else ()
            is_late = bool(claims) and self._chances.is_pod_late(self._created)
            (self._waiting if is_late else prompt).append(pod)
        return prompt

    def arrive(self) -> list[SimulatedPod]:
        """Return the late pods, which now arrive."""
        late, self._waiting = self._waiting, []
        return late

    def drop(self, pod: SimulatedPod) -> None:
        """Remove a pod that its controller deletes."""
        self._waiting = [each for each in self._waiting if each is not pod]
