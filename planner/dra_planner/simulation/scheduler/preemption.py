"""Which pods of lower priority have to go so that a pod fits.

Devices of victims count as taken: the plugin for devices takes no part when victims are looked for.
So preemption helps a pod that lacks cpu, memory, ports, slots or distance, next to devices that are
free, and never one that lacks devices.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/preemption/preemption.go and
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
"""What keeps pods off a node, as its filter names it, that the removal of pods can help."""
# priorities are compared as if none were negative, so that fewer pods are better
_OFFSET: Final = 2**31
_MOST_CANDIDATES, _SHARE_OF_NODES = 100, 10


def find_victims(
    pod: SimulatedPod,
    scheduler: Scheduler,
    failure: SchedulingFailure,
    budgets: Sequence[Allowance] = (),
) -> tuple[int, tuple[PlacedPod, ...]] | None:
    """Return a node and the fewest, least important pods there whose removal lets the pod in; None
    where none does.

    Pods that `budgets` want to keep go only where no others will do.
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
    """Return what is compared of candidates, the least first: of equal ones that whose pods have
    run the shortest.
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
    """Return the nodes that turn the pod down for a reason that the removal of pods can help."""
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
    """Return the pods of a node that have to go, none where that does not help, and how many
    budgets want to keep.

    Every less important pod is removed; then those that need not go are taken back, those first
    that budgets want to keep, and of these the important ones and the old ones.
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
    """Return the pods that some budget has nothing left for, when they go one after the other in
    this order.

    `in_turn`: a pod counts for no budget after one that has nothing left for it; else it counts for
    all of its budgets.

    Source of the behaviour:
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
