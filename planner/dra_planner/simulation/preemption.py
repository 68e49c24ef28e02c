"""Which pods of lower priority have to go so that a pod fits.

Devices of victims count as taken: the plugin for devices takes no part when victims are looked for. So preemption
helps a pod that lacks cpu, memory, ports, slots or distance, next to devices that are free, and never one that lacks
devices.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/preemption/preemption.go and
plugins/defaultpreemption/default_preemption.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_planner.allocation import Refusal
from dra_planner.simulation.cluster import PlacedPod, SimulatedPod
from dra_planner.simulation.scheduling import Failure, Scheduler
from dra_planner.simulation.stages import Stage, StageAnswer
from dra_planner.simulation.surroundings import Population

_HELPED: Final = ("resources", "host-port", "anti-affinity", "affinity", "spread")
"""Filters that the removal of pods can satisfy."""
_OFFSET: Final = 2**31  # priorities are compared as if none were negative, so that fewer pods are better
_MOST_CANDIDATES, _SHARE_OF_NODES = 100, 10


def find_victims(pod: SimulatedPod, scheduler: Scheduler, failure: Failure) -> tuple[int, tuple[PlacedPod, ...]] | None:
    """Return a node and the fewest, least important pods there whose removal lets the pod in; None where none does."""
    spec, cluster = pod.kind.spec, scheduler.cluster
    if spec.preemption_policy == "Never" or failure.error is not None:
        return None
    if not any(placed.pod.kind.spec.priority < spec.priority for placed in cluster.pods.values()):
        return None
    most = max(_MOST_CANDIDATES, len(cluster.stage_of) // _SHARE_OF_NODES)
    best: tuple[tuple[int, int, int], int, tuple[PlacedPod, ...]] | None = None
    candidates = 0
    for node in _helped_nodes(pod, scheduler):
        victims = _victims_on(node, pod, scheduler)
        if victims:
            priorities = [each.pod.kind.spec.priority + _OFFSET for each in victims]
            cost = max(priorities), sum(priorities), len(victims)
            candidates += 1
            if best is None or cost < best[0]:
                best = cost, node, victims
        if candidates >= most:
            break
    return None if best is None else best[1:]


def _helped_nodes(pod: SimulatedPod, scheduler: Scheduler) -> list[int]:
    """Return the nodes that turn the pod down for a reason that the removal of pods can help."""
    cluster = scheduler.cluster
    population = cluster.population
    helped: dict[Stage, bool] = {}
    nodes = range(len(cluster.stage_of)) if pod.only_node is None else [pod.only_node]
    for node in nodes:
        stage = cluster.stage_of[node]
        if stage not in helped:
            answer = scheduler.judge(pod.kind, stage, population)
            misfit = answer.misfit if isinstance(answer, Refusal) else None
            helped[stage] = misfit is not None and misfit.filter in _HELPED
    return [node for node in nodes if helped[cluster.stage_of[node]]]


def _victims_on(node: int, pod: SimulatedPod, scheduler: Scheduler) -> tuple[PlacedPod, ...]:
    """Remove every less important pod of the node, then take back those that need not go, the important ones first."""
    priority = pod.kind.spec.priority
    gone = [each for each in scheduler.cluster.pods_on(node) if each.pod.kind.spec.priority < priority]
    gone.sort(key=lambda each: -each.pod.kind.spec.priority)
    if not gone or not _fits_without(gone, node, pod, scheduler):
        return ()
    for candidate in tuple(gone):
        spared = [each for each in gone if each is not candidate]
        if _fits_without(spared, node, pod, scheduler):
            gone = spared
    return tuple(gone)


def _fits_without(victims: Sequence[PlacedPod], node: int, pod: SimulatedPod, scheduler: Scheduler) -> bool:
    cluster = scheduler.cluster
    before = after = cluster.stage_of[node]
    for victim in victims:
        after = cluster.stage_without(victim, after, keep_devices=True)
    answer = scheduler.judge(pod.kind, after, _replaced(cluster.population, before, after))
    return isinstance(answer, StageAnswer)


def _replaced(population: Population, before: Stage, after: Stage) -> Population:
    counts = dict(population)
    counts[before] -= 1
    counts[after] = counts.get(after, 0) + 1
    return [(stage, nodes) for stage, nodes in counts.items() if nodes]
