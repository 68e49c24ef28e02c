"""When started pods become ready, and when ended pods disappear."""

from __future__ import annotations

from random import Random

from dra_planner.simulation.cluster.cluster import Cluster, PlacedPod, SimulatedPod


class Lifetimes:
    """Pods are ready as soon as they are bound, and disappear as soon as they end."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._ending: list[SimulatedPod] = []

    def runs(self, pod: SimulatedPod) -> PlacedPod | None:
        """Return the place of a pod, or None if it isn't ready."""
        return self._cluster.pods.get(pod.name)

    def end(self, pod: SimulatedPod) -> None:
        """End a bound pod. It keeps its node and devices until it disappears."""
        self._ending.append(pod)

    def pass_time(self) -> tuple[bool, list[SimulatedPod]]:
        """Return True if a pod became ready, and the pods that disappear now."""
        gone, self._ending = self._ending, []
        return False, gone


class LaggingLifetimes(Lifetimes):
    """Pods become ready and disappear at random moments.

    In a cluster, each node's kubelet reports when a pod is ready and when its containers have
    ended. Until then, the pod holds its devices, although the Deployment has already replaced it.
    Source of the behavior: kubernetes/kubernetes:pkg/controller/controller_utils.go @v1.36.3
    (IsPodActive: a pod that is being deleted doesn't count).
    """

    def __init__(self, cluster: Cluster, seed: int | None) -> None:
        super().__init__(cluster)
        self._ready = set(cluster.pods)
        self._chance = Random(f"{seed}/lifetimes")

    def runs(self, pod: SimulatedPod) -> PlacedPod | None:
        """Return the place of a pod, or None if it isn't ready."""
        return super().runs(pod) if pod.name in self._ready else None

    def pass_time(self) -> tuple[bool, list[SimulatedPod]]:
        """Return True if a pod becomes ready or disappears now or later, and the pods that
        disappear now.
        """
        ending = {pod.name: pod for pod in self._ending if pod.name in self._cluster.pods}
        events = [name for name in self._cluster.pods if name not in self._ready]
        events = [*ending, *(name for name in events if name not in ending)]
        if not events:
            return False, []
        chosen = self._chance.sample(events, self._chance.randint(0, len(events)))
        gone = [ending.pop(name) for name in chosen if name in ending]
        self._ending = list(ending.values())
        self._ready |= set(chosen)
        self._ready -= {pod.name for pod in gone}
        return True, gone
