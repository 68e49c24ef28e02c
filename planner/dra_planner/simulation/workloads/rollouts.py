"""Controllers that replace pods step by step: Deployments, and StatefulSets in a cluster.

Source of the behavior: kubernetes/kubernetes:pkg/controller/{deployment,statefulset}/*.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct

from dra_planner.model import ObjectKey, QuotaLimit, WorkloadRef
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.workloads.controllers import (
    UNBOUNDED,
    Names,
    Runs,
    first_to_go,
    surplus,
)


class RollingReplicas(Struct):
    """Replaces `old` pods, with at most `surge` pods more than wanted, and at most `unavailable`
    running pods fewer (Deployment).

    Pods of a Deployment are deleted as by ReplicaSets (`by_crowd`), and pods of other kinds in
    reverse order. `waiting` are old pods in the queue. `existing` new pods are already in the
    cluster, also if `surge` was larger when they were created. With `waits_for_ends`, no new pod is
    created while an old pod exists (strategy `Recreate`), also if the replicas are raised.
    """

    workload: WorkloadRef
    kind: PodKind
    wanted: int
    names: Names
    old: list[SimulatedPod]
    waiting: Sequence[SimulatedPod] = ()
    surge: int = 0
    unavailable: int = 0
    by_crowd: bool = False
    existing: int = 0
    waits_for_ends: bool = False
    seed: int | None = None
    tried: tuple[int, int] | None = None  # numbers of old and new pods when pods were last created
    pods: list[SimulatedPod] = []
    lost: int = 0
    charges: Mapping[QuotaLimit, int] = {}

    def create(self, runs: Runs, room: int = UNBOUNDED) -> list[SimulatedPod]:
        more = min(self._more(), room)
        made = [SimulatedPod(next(self.names), self.kind) for _ in range(max(0, more))]
        self.pods += made
        self.tried = len(self.old), len(self.pods)
        return made

    def _more(self) -> int:
        if self.waits_for_ends and self.old:
            return 0
        total = max(self.wanted + self.surge - len(self.old), self.existing)
        return min(self.wanted, total) - len(self.pods)

    def delete(self, runs: Runs) -> list[SimulatedPod]:
        if self._more() > 0 and self.tried != (len(self.old), len(self.pods)):
            return []  # new pods are created first
        broken = [pod for pod in self.old if not runs(pod)]
        running = [pod for pod in self.old if runs(pod)]
        spare = (
            len(running)
            + sum(runs(pod) is not None for pod in self.pods)
            - (self.wanted - self.unavailable)
        )
        if self.by_crowd:  # a Deployment counts its pending pods as unavailable pods
            broken = broken[: max(0, spare + len(broken))]
        in_turn = (
            first_to_go(running, (*running, *self.pods), runs, self.seed)
            if self.by_crowd
            else running[::-1]
        )
        going = broken + in_turn[: max(0, spare)]
        self.old = [pod for pod in self.old if pod not in going]
        return going if self.old else going + surplus(self, runs)

    def lose(self, pod: SimulatedPod) -> None:
        (self.pods if pod in self.pods else self.old).remove(pod)


class RollingOrdered(Struct):
    """Replaces the `old` pods of a StatefulSet one at a time, from the last pod down to the
    `partition`. Before that, missing pods are created. With `in_order`, all pods must run, and
    each pod is created when the previous pods run. `waiting` are old pods in the queue. `wanted`
    of the `replicas` are admitted. Source:
    kubernetes/kubernetes:pkg/controller/statefulset/stateful_set_control.go@v1.36.3
    (updateStatefulSet).
    """

    waits_for_ends: ClassVar[bool] = True
    workload: WorkloadRef
    kind: PodKind
    wanted: int
    replicas: int
    old: list[SimulatedPod]
    waiting: Sequence[SimulatedPod] = ()
    partition: int = 0
    in_order: bool = True
    pods: list[SimulatedPod] = []
    lost: int = 0
    charges: Mapping[QuotaLimit, int] = {}
    seed: int | None = None

    there: dict[int, SimulatedPod] = {}  # old and new pods by their numbers

    def __post_init__(self) -> None:
        self.there = {_number(pod): pod for pod in (*self.old, *self.pods)}

    def create(self, runs: Runs, room: int = UNBOUNDED) -> list[SimulatedPod]:
        there = self.there
        missing = [number for number in range(self.replicas) if number not in there]
        if self.in_order and missing:
            missing = (
                missing[:1] if all(runs(there[number]) for number in range(missing[0])) else []
            )
        ref = self.workload
        room = max(0, min(room, self.wanted - len(there)))
        made = {
            number: SimulatedPod(ObjectKey(ref.namespace, ref.pod_name(number)), self.kind)
            for number in missing[:room]
        }
        self.there |= made
        self.pods += made.values()
        return list(made.values())

    def delete(self, runs: Runs) -> list[SimulatedPod]:
        there = self.there
        if any(number not in there for number in range(self.replicas)):
            return []
        if self.in_order and not all(runs(there[number]) for number in range(self.replicas)):
            return []
        going = [number for number in there if number >= self.replicas]
        before = {pod.name for pod in self.old}
        for number in range(self.replicas - 1, self.partition - 1, -1):
            if there[number].name in before:
                going.append(number)
                break
            if not runs(there[number]):
                break
        pods = [there[number] for number in going]
        for pod in pods:
            self.lose(pod)
        return pods

    def lose(self, pod: SimulatedPod) -> None:
        del self.there[_number(pod)]
        (self.pods if pod in self.pods else self.old).remove(pod)


def _number(pod: SimulatedPod) -> int:
    """Return the ordinal of a pod of a StatefulSet."""
    number = pod.name.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else UNBOUNDED
