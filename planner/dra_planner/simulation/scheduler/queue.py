"""The scheduler's queue, ordered by priority and then by arrival.

Failed pods wait for an event that might help them.

Source of the behavior: kubernetes/kubernetes:pkg/scheduler/backend/queue/scheduling_queue.go
@v1.36.3. Back-off is an order instead of a time: a retried pod comes after all pods that are
already in the queue. After a preemption, the preempting pod waits until its victims are deleted, so
earlier pods are tried first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Final

from dra_planner.model import ObjectKey
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.scheduler.scheduling import SchedulingFailure

_ALL: Final = 2**33
"""A number that is greater than any difference between priorities."""


def _never(_pod: SimulatedPod, _failure: SchedulingFailure) -> bool:
    return False


class Queue:
    """Pending pods: active ones, and parked ones with the reason for their failure."""

    def __init__(self) -> None:
        self._active: list[tuple[int, int, SimulatedPod]] = []
        self._arrivals = 0
        self._rested: frozenset[ObjectKey] = frozenset()
        self.parked: dict[ObjectKey, tuple[SimulatedPod, SchedulingFailure]] = {}

    def rest(self) -> None:
        """End the back-off of all parked pods."""
        self._rested = frozenset(self.parked)

    def add(self, pods: Iterable[SimulatedPod], before: int = 0) -> None:
        """Add pods in arrival order. `before` is subtracted from their sort key."""
        for pod in pods:
            heappush(self._active, (-pod.kind.spec.priority - before, self._arrivals, pod))
            self._arrivals += 1

    def park(self, pod: SimulatedPod, failure: SchedulingFailure) -> None:
        """Park a pod for which no node was found."""
        self.parked[pod.name] = pod, failure

    def wake(
        self,
        helped: Callable[[SimulatedPod, SchedulingFailure], bool],
        *,
        freed: bool = False,
        late: Callable[[SimulatedPod, SchedulingFailure], bool] = _never,
    ) -> bool:
        """Retry the parked pods that an event might help, and return True if there were any.

        `freed` means that pods were preempted for a pod in the queue. In this case, the other pods
        in the queue are tried before the resources are free. `late` pods come after all others,
        including pods that are created in the meantime.
        """
        found = [(pod, failure) for pod, failure in self.parked.values() if helped(pod, failure)]
        woken = [pod for pod, failure in found if not late(pod, failure)]
        after = [pod for pod, failure in found if late(pod, failure)]
        for pod, _ in found:
            del self.parked[pod.name]
        self.add(after, -_ALL)
        rested = self._rested if freed else ()
        self.add([pod for pod in woken if pod.name in rested], _ALL)
        self.add([pod for pod in woken if pod.name not in rested])
        return bool(found)

    def drain(self) -> Iterator[SimulatedPod]:
        """Yield active pods in order, including pods that are added meanwhile."""
        while self._active:
            yield heappop(self._active)[2]

    def drop(self, name: ObjectKey) -> None:
        """Remove a parked pod that no longer exists."""
        self.parked.pop(name, None)

    def waiting(self) -> Iterator[SimulatedPod]:
        """Yield the pods that haven't been tried yet, in order."""
        for _, _, pod in sorted(self._active, key=lambda each: each[:2]):
            yield pod
