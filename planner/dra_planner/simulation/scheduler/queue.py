"""The scheduler's queue: by priority, then by arrival; pods that failed wait for an event that may
help them.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/backend/queue/scheduling_queue.go
@v1.36.3. Back-off is kept as an order, not as a time: a pod that is woken comes after all that are
in the queue already. Those that others gave way for have to wait until the room is free, so pods
that waited before they came are tried first then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Final

from dra_planner.model import ObjectKey
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.scheduler.scheduling import SchedulingFailure

_ALL: Final = 2**33
"""More than priorities differ by."""


def _never(_pod: SimulatedPod, _failure: SchedulingFailure) -> bool:
    return False


class Queue:
    """Pods that wait: active ones, and parked ones with why they failed."""

    def __init__(self) -> None:
        self._active: list[tuple[int, int, SimulatedPod]] = []
        self._arrivals = 0
        self._rested: frozenset[ObjectKey] = frozenset()
        self.parked: dict[ObjectKey, tuple[SimulatedPod, SchedulingFailure]] = {}

    def rest(self) -> None:
        """Let time pass: those that are parked now have no back-off left."""
        self._rested = frozenset(self.parked)

    def add(self, pods: Iterable[SimulatedPod], before: int = 0) -> None:
        """Add pods in the order in which they arrive; `before` is taken off what they are sorted
        by.
        """
        for pod in pods:
            heappush(self._active, (-pod.kind.spec.priority - before, self._arrivals, pod))
            self._arrivals += 1

    def park(self, pod: SimulatedPod, failure: SchedulingFailure) -> None:
        """Keep a pod that found no node."""
        self.parked[pod.name] = pod, failure

    def wake(
        self,
        helped: Callable[[SimulatedPod, SchedulingFailure], bool],
        *,
        freed: bool = False,
        late: Callable[[SimulatedPod, SchedulingFailure], bool] = _never,
    ) -> bool:
        """Let parked pods try again that an event may have helped; tell whether there were any.

        `freed`: pods gave way to one of those in the queue, which have had their turn by the time
        the room is free. `late` ones come after all others, and those that are made meanwhile.
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
        """Yield active pods, the next one first, those added on the way too."""
        while self._active:
            yield heappop(self._active)[2]

    def drop(self, name: ObjectKey) -> None:
        """Forget a parked pod that no longer exists."""
        self.parked.pop(name, None)

    def waiting(self) -> Iterator[SimulatedPod]:
        """Yield the pods that have not been tried, in order."""
        for _, _, pod in sorted(self._active, key=lambda each: each[:2]):
            yield pod
