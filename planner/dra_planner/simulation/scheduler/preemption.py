"""Find pods of lower priority that must be removed so that a pod fits.

Devices of victims stay allocated, because the DynamicResources plugin doesn't take part in the
search for victims. Therefore, preemption helps a pod that lacks CPU, memory, ports, pod slots, or
anti-affinity to other pods, if devices are free. It never helps a pod that lacks devices. Source of
the behavior: kubernetes/kubernetes:pkg/scheduler/framework/preemption/preemption.go and
plugins/defaultpreemption/default_preemption.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dra_planner.allocation import Placement, Refusal
from dra_planner.model import ObjectKey
from dra_planner.simulation.cluster.cluster import PlacedPod, SimulatedPod
from dra_planner.simulation.cluster.stages import NodeStage, Population
from dra_planner.simulation.plugins import PLUGINS
from dra_planner.simulation.scheduler.scheduling import Scheduler, SchedulingFailure
from dra_planner.simulation.workloads.disruption_budgets import Allowance

_HELPED: Final = frozenset[str]().union(*(each.helped for each in PLUGINS))
"""Reasons of filters for rejecting a node that the removal of pods can resolve."""
# priorities are compared as if none were negative, so that fewer pods are better
_OFFSET: Final = 2**31
_MOST_CANDIDATES, _SHARE_OF_NODES = 100, 10


def find_victims(
    pod: SimulatedPod,
    scheduler: Scheduler,
    failure: SchedulingFailure,
    budgets: Sequence[Allowance] = (),
) -> tuple[int, tuple[PlacedPod, ...]] | None:
    """Return a node, and the fewest and least important pods on it whose removal makes the pod fit,
    or None. Pods that `budgets` protect are removed only if no other pods help.
    """
    spec, cluster = pod.kind.spec, scheduler.cluster
    if spec.preemption_policy == "Never" or failure.error is not None:
        return None
    if not any(placed.pod.kind.spec.priority < spec.priority for placed in cluster.pods.values()):
        return None
    nodes = _helped_nodes(pod, scheduler)
    most = max(_MOST_CANDIDATES, len(nodes) // _SHARE_OF_NODES)
    if len(nodes) > most:
        first = scheduler.one_of(len(nodes))
        nodes = nodes[first:] + nodes[:first]
    best: list[tuple[int, tuple[PlacedPod, ...]]] = []
    least: Rank | None = None
    candidates, is_allowed = 0, False
    for node in nodes:
        victims, violations = _victims_on(node, pod, scheduler, budgets)
        if not victims:
            continue
        rank = _rank(victims, violations)
        if least is None or rank < least:
            least, best = rank, []
        if rank == least:
            best.append((node, victims))
        candidates += 1
        is_allowed |= not violations
        if is_allowed and candidates >= most:
            break
    return best[scheduler.one_of(len(best))] if best else None


Rank = tuple[int, int, int, int, int]


def _rank(victims: Sequence[PlacedPod], violations: int) -> Rank:
    """Return the sort key of a candidate, best first. Among equal candidates, the one whose pods
    started last is best.
    """
    priorities = [each.pod.kind.spec.priority + _OFFSET for each in victims]
    highest = max(priorities)
    earliest = min(
        each.since
        for each, priority in zip(victims, priorities, strict=True)
        if priority == highest
    )
    return violations, highest, sum(priorities), len(victims), -earliest


def _helped_nodes(pod: SimulatedPod, scheduler: Scheduler) -> list[int]:
    """Return the nodes that reject the pod for a reason that the removal of pods can resolve."""
    cluster = scheduler.cluster
    population = cluster.population
    helped: dict[NodeStage, bool] = {}
    nodes = range(len(cluster.stage_of)) if pod.only_node is None else [pod.only_node]
    for node in nodes:
        stage = cluster.stage_of[node]
        if stage not in helped:
            answer = scheduler.judge(pod.kind, stage, population)
            misfit = answer.misfit if isinstance(answer, Refusal) else None
            helped[stage] = misfit is not None and misfit.filter in _HELPED
    return [node for node in nodes if helped[cluster.stage_of[node]]]


def _victims_on(
    node: int, pod: SimulatedPod, scheduler: Scheduler, budgets: Sequence[Allowance]
) -> tuple[tuple[PlacedPod, ...], int]:
    """Return the pods that must be removed from a node (none if this doesn't help), and how many of
    these pods budgets protect.

    First, all less important pods are removed. Then the pods that don't need to be removed are
    added back: first the protected pods, and among these, important and old pods first.
    """
    priority = pod.kind.spec.priority
    gone = [
        each for each in scheduler.cluster.pods_on(node) if each.pod.kind.spec.priority < priority
    ]
    gone.sort(key=lambda each: (-each.pod.kind.spec.priority, each.since))
    if not gone or not _fits_without(gone, node, pod, scheduler):
        return (), 0
    in_turn = scheduler.cluster.stage_of[node].state.features.charges_budgets_in_turn
    kept = _kept_by_budgets(gone, budgets, in_turn=in_turn)
    for candidate in sorted(gone, key=lambda each: each.pod.name not in kept):
        spared = [each for each in gone if each is not candidate]
        if _fits_without(spared, node, pod, scheduler):
            gone = spared
    return tuple(gone), sum(each.pod.name in kept for each in gone)


def _kept_by_budgets(
    victims: Iterable[PlacedPod], budgets: Sequence[Allowance], *, in_turn: bool
) -> set[ObjectKey]:
    """Return the pods for which a budget has no disruptions left if they are removed in this order.

    With `in_turn`, after a budget without disruptions is found, a pod doesn't count against its
    other budgets. Otherwise, it counts against all of its budgets. Source of the behavior:
    kubernetes/kubernetes:pkg/scheduler/framework/plugins/defaultpreemption/ default_preemption.go
    @v1.36.3 (filterPodsWithPDBViolation), and in turn pkg/scheduler/framework/preemption/util.go
    @v1.37.0 (FilterVictimsWithPDBViolation).
    """
    left = [each.pods for each in budgets]
    kept: set[ObjectKey] = set()
    for victim in victims:
        name = victim.pod.name
        for number, budget in enumerate(budgets):
            if victim.pod.kind.number not in budget.kinds or name in budget.disrupted:
                continue
            left[number] -= 1
            if left[number] < 0:
                kept.add(name)
                if in_turn:
                    break
    return kept


def _fits_without(
    victims: Sequence[PlacedPod], node: int, pod: SimulatedPod, scheduler: Scheduler
) -> bool:
    cluster = scheduler.cluster
    before = after = cluster.stage_of[node]
    for victim in victims:
        after = cluster.stage_without(victim, after, keep_devices=True)
    answer = scheduler.judge(pod.kind, after, _replaced(cluster.population, before, after))
    return isinstance(answer, Placement)


def _replaced(population: Population, before: NodeStage, after: NodeStage) -> Population:
    counts = dict(population)
    counts[before] -= 1
    counts[after] = counts.get(after, 0) + 1
    return [(stage, nodes) for stage, nodes in counts.items() if nodes]
