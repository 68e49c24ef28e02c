"""Controllers that create pods.

Each is evaluated again whenever the queue is empty. Source of the behavior:
kubernetes/kubernetes:pkg/controller/{replicaset,deployment,statefulset,job,daemon}/*.go @v1.36.3.
Bound pods run and are ready immediately, and never end.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, Protocol

from msgspec import Struct

from dra_planner.model import ObjectKey, QuotaLimit, WorkloadRef
from dra_planner.simulation.cluster.cluster import PlacedPod, SimulatedPod
from dra_planner.simulation.cluster.pod_kinds import PodKind

Runs = Callable[[SimulatedPod], PlacedPod | None]
"""Returns the place of a pod, or None if it has no node."""
Names = Iterator[ObjectKey]
UNBOUNDED: Final = 2**62
BARE_POD: Final = "Pod"  # the kind of a workload without a controller


class Controller(Protocol):
    """Creates the pods of one workload."""

    workload: WorkloadRef
    pods: list[SimulatedPod]
    charges: Mapping[QuotaLimit, int]
    """Amounts that quotas count for each of its pods."""
    waiting: Sequence[SimulatedPod]
    """Pods of an earlier template that are in the queue at the start."""
    seed: int | None
    """Chooses a pod if several are possible. Without a seed, the first one is chosen."""

    @property
    def waits_for_ends(self) -> bool:
        """True if the controller creates a pod only after the replaced pod is deleted."""
        ...

    @property
    def old(self) -> Sequence[SimulatedPod]:
        """Pods that are being replaced and still exist."""
        ...

    @property
    def wanted(self) -> int:
        """Number of wanted pods."""
        ...

    @property
    def lost(self) -> int:
        """The number of preempted or rejected pods that aren't re-created."""
        ...

    def create(self, runs: Runs, room: int = UNBOUNDED) -> list[SimulatedPod]:
        """Return the pods to create now, at most `room`."""
        ...

    def delete(self, runs: Runs) -> list[SimulatedPod]:
        """Return the pods to delete now."""
        ...

    def lose(self, pod: SimulatedPod) -> None:
        """Record that a pod was preempted."""


def surplus(controller: Controller, runs: Runs) -> list[SimulatedPod]:
    """Return the surplus pods to delete: pending pods first, and then the last pods."""
    if len(controller.pods) <= controller.wanted:
        return []
    kept = sorted(controller.pods, key=lambda pod: not runs(pod))[: controller.wanted]
    going = [pod for pod in controller.pods if pod not in kept]
    controller.pods[:] = [pod for pod in controller.pods if pod not in going]
    return going


def first_to_go(
    pods: Iterable[SimulatedPod], beside: Iterable[SimulatedPod], runs: Runs, seed: int | None
) -> list[SimulatedPod]:
    """Return the pods of a ReplicaSet in the order of deletion: pending pods first, then pods on
    nodes with the most pods of the same Deployment (`beside`). Among these, the youngest pods
    come first, or random pods with a seed.

    Source: kubernetes/kubernetes:pkg/controller/controller_utils.go@v1.36.3 (ActivePodsWithRanks).
    Age matters only if one pod is about twice as old as another. Otherwise, the UID decides.
    """
    crowds = Counter(placed.node for pod in beside if (placed := runs(pod)) is not None)

    def rank(pod: SimulatedPod) -> tuple[bool, int, int]:
        placed = runs(pod)
        if placed is None:
            return False, 0, 0
        return True, -crowds[placed.node], -placed.since if seed is None else 0

    in_turn = list(pods)
    if seed is None:
        in_turn.reverse()
    else:
        random.Random(f"{seed}/{len(in_turn)}").shuffle(in_turn)
    return sorted(in_turn, key=rank)


class Replicas(Struct):
    """A number of equal pods (ReplicaSet, Job, and most others), which are re-created when they are
    lost.

    `replaces` is False for bare pods, which aren't re-created when they are lost. `exists` is True
    for bare pods in the cluster, whose claims are created as soon as the quotas admit them. With
    `by_crowd`, surplus pods on the fullest nodes are deleted first, as by a ReplicaSet.
    """

    waits_for_ends: ClassVar[bool] = False
    workload: WorkloadRef
    kind: PodKind
    wanted: int
    names: Names
    replaces: bool = True
    exists: bool = False
    by_crowd: bool = False
    seed: int | None = None
    pods: list[SimulatedPod] = []
    lost: int = 0
    charges: Mapping[QuotaLimit, int] = {}
    waiting: Sequence[SimulatedPod] = ()

    @property
    def old(self) -> Sequence[SimulatedPod]:
        return ()

    def create(self, runs: Runs, room: int = UNBOUNDED) -> list[SimulatedPod]:
        missing = self.wanted - len(self.pods)
        if missing <= 0:
            return []
        if missing > room and not self.replaces and not self.exists:
            self.lost += missing - room
            self.wanted -= missing - room
        made = [SimulatedPod(next(self.names), self.kind) for _ in range(min(missing, room))]
        self.pods += made
        return made

    def delete(self, runs: Runs) -> list[SimulatedPod]:
        more = len(self.pods) - self.wanted
        if more <= 0 or not self.by_crowd:
            return surplus(self, runs)
        going = first_to_go(self.pods, self.pods, runs, self.seed)[:more]
        self.pods = [pod for pod in self.pods if pod not in going]
        return going

    def lose(self, pod: SimulatedPod) -> None:
        self.pods.remove(pod)
        if not self.replaces:
            self.wanted -= 1
            self.lost += 1


class Ordered(Struct):
    """Pods that are created one after another, each when the previous pod is running
    (StatefulSet). The first `existing` pods are already in the cluster, also if the previous pod
    isn't running, for example after its preemption.
    """

    waits_for_ends: ClassVar[bool] = True
    workload: WorkloadRef
    kind: PodKind
    wanted: int
    names: Names
    existing: int = 0
    pods: list[SimulatedPod] = []
    lost: int = 0
    charges: Mapping[QuotaLimit, int] = {}
    waiting: Sequence[SimulatedPod] = ()
    seed: int | None = None

    @property
    def old(self) -> Sequence[SimulatedPod]:
        return ()

    def create(self, runs: Runs, room: int = UNBOUNDED) -> list[SimulatedPod]:
        more = min(self.existing, self.wanted) - len(self.pods)
        self.existing = 0  # only at the start: later, lost pods are replaced one after another
        if more <= 0:
            more = 1 if len(self.pods) < self.wanted and all(map(runs, self.pods)) else 0
        made = [SimulatedPod(next(self.names), self.kind) for _ in range(min(more, room))]
        self.pods += made
        return made

    def delete(self, runs: Runs) -> list[SimulatedPod]:
        return surplus(self, runs)

    def lose(self, pod: SimulatedPod) -> None:
        self.pods.remove(pod)


class PerNode(Struct):
    """One pod for each matching node (DaemonSet). `nodes` are their numbers.

    Among the pods to be `replaced`, pods that aren't running are deleted first. The others are
    deleted on at most `unavailable` nodes at a time. With a `surge`, the new pod is created first,
    on that number of nodes at a time, and the old pod is deleted when the new one runs. There are
    never more than `most` pods. Source:
    kubernetes/kubernetes:pkg/controller/daemon/update.go@v1.36.3 (rollingUpdate).
    """

    waits_for_ends: ClassVar[bool] = True
    workload: WorkloadRef
    kind: PodKind
    nodes: Sequence[int]
    names: Names
    most: int = UNBOUNDED
    pods: list[SimulatedPod] = []
    lost: int = 0
    charges: Mapping[QuotaLimit, int] = {}
    waiting: Sequence[SimulatedPod] = ()
    replaced: list[SimulatedPod] = []
    surge: int = 0
    unavailable: int = 1
    seed: int | None = None
    _on: dict[int | None, SimulatedPod] = {}  # the new pods by node
    _starting: list[SimulatedPod] = []  # the new pods that haven't been observed running
    # the old pods that haven't been observed running
    _broken: list[SimulatedPod] = []

    def __post_init__(self) -> None:
        self._on = {pod.only_node: pod for pod in self.pods}
        self._starting, self._broken = list(self.pods), list(self.replaced)

    def _look(self, runs: Runs) -> None:
        """Record which pods are running. They count as running until they are lost."""
        self._starting = [pod for pod in self._starting if not runs(pod)]
        self._broken = [pod for pod in self._broken if not runs(pod)]

    @property
    def wanted(self) -> int:
        return len(self.nodes)

    @property
    def old(self) -> Sequence[SimulatedPod]:
        return self.replaced

    def create(self, runs: Runs, room: int = UNBOUNDED) -> list[SimulatedPod]:
        self._look(runs)
        without = [node for node in self.nodes if node not in self._on]
        if self.replaced and without:
            before, broken = (
                {pod.only_node for pod in self.replaced},
                {pod.only_node for pod in self._broken},
            )
            starting = sum(pod.only_node in before for pod in self._starting)
            beside = [node for node in without if node in before and node not in broken]
            first = [
                node for node in without if node not in before or (self.surge and node in broken)
            ]
            without = first + beside[: max(0, self.surge - starting)]
        room = max(0, min(room, self.most - len(self.pods) - len(self.replaced)))
        made = [SimulatedPod(next(self.names), self.kind, node) for node in without[:room]]
        self.pods += made
        self._starting += made
        self._on.update((pod.only_node, pod) for pod in made)
        return made

    def delete(self, runs: Runs) -> list[SimulatedPod]:
        if not self.replaced:
            return []
        self._look(runs)
        desired, running = (
            set(self.nodes),
            self._on.keys() - {pod.only_node for pod in self._starting},
        )
        going = [pod for pod in self.replaced if pod.only_node not in desired]
        here = [pod for pod in self.replaced if pod.only_node in desired]
        broken = [pod for pod in self._broken if pod.only_node in desired]
        if self.surge:
            going += [
                pod
                for pod in here
                if pod.only_node in running or (pod in broken and pod.only_node in self._on)
            ]
        else:
            missing = len(desired - running) - (len(here) - len(broken))
            spare = max(0, self.unavailable - missing)
            others = [pod for pod in here if pod not in broken] if broken else here
            if self.seed is not None:  # the order of the nodes isn't defined
                others = list(others)
                random.Random(f"{self.seed}/{len(others)}").shuffle(others)
            going += broken + others[:spare]
        self.replaced = [pod for pod in self.replaced if pod not in going]
        self._broken = [pod for pod in self._broken if pod not in going]
        return going

    def lose(self, pod: SimulatedPod) -> None:
        if pod in self.replaced:
            self.replaced.remove(pod)
            self._broken = [each for each in self._broken if each is not pod]
            return
        self.pods.remove(pod)
        self._starting = [each for each in self._starting if each is not pod]
        self._on = {each.only_node: each for each in self.pods}
