"""Which pods of lower priority would have to go so that a pod fits.

Devices of victims count as taken: the plugin for devices takes no part in the simulation. So preemption helps a pod
that lacks cpu, memory, ports, slots or distance, next to devices that are free, and never one that lacks devices.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/preemption/preemption.go and
plugins/defaultpreemption/default_preemption.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_planner.allocation.cluster import Cluster, PlacedPod, QueuedPod
from dra_planner.allocation.verdicts import Answer, Placement, Refusal, Undecided
from dra_planner.model import ObjectKey

_HELPED = ("resources", "host-port", "anti-affinity", "affinity", "spread")
"""Filters that the removal of pods can satisfy."""

Judge = Callable[[Cluster, str], Answer]
"""Judges the pod on one node of a changed cluster."""


def find_victims(
    pod: QueuedPod, cluster: Cluster, refusals: Mapping[str, Refusal | Undecided], judge: Judge
) -> tuple[str, tuple[ObjectKey, ...]] | None:
    """Return the node and the fewest, least important pods there whose removal lets the pod in; None if none does."""
    if pod.shape.pod.preemption_policy == "Never":
        return None
    best: tuple[tuple[int, int, int], str, tuple[ObjectKey, ...]] | None = None
    for name, refusal in refusals.items():
        if not isinstance(refusal, Refusal) or refusal.misfit is None or refusal.misfit.filter not in _HELPED:
            continue
        victims = _victims_on(name, pod, cluster, judge)
        if victims is None:
            continue
        priorities = [v.pod.shape.pod.priority for v in victims]
        cost = (max(priorities), sum(priorities), len(victims))
        if best is None or cost < best[0]:
            best = (cost, name, tuple(v.pod.name for v in victims))
    return None if best is None else (best[1], best[2])


def _victims_on(name: str, pod: QueuedPod, cluster: Cluster, judge: Judge) -> list[PlacedPod] | None:
    """Remove every less important pod of the node, then take back those that need not go, the important ones first."""
    lower = [p for p in cluster.pods.values() if p.node == name and p.pod.shape.pod.priority < pod.shape.pod.priority]
    if not lower:
        return None
    emptied = cluster
    for victim in lower:
        emptied = emptied.without_pod(victim.pod.name, keep_devices=True)
    if not isinstance(judge(emptied, name), Placement):
        return None
    gone = sorted(lower, key=lambda p: -p.pod.shape.pod.priority)
    for candidate in tuple(gone):
        spared = [p for p in gone if p is not candidate]
        left = cluster
        for victim in spared:
            left = left.without_pod(victim.pod.name, keep_devices=True)
        if isinstance(judge(left, name), Placement):
            gone = spared
    return gone or None
