"""Schedule a queue of pods on a cluster, pod by pod, as the scheduler would.

Pods are taken by priority, then in order of arrival. A pod sees every node; an error on any node that the other filters
left ends its attempt. Preemption frees what pods hold of cpu, memory, ports and slots, never their devices.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/schedule_one.go, framework/preemption/preemption.go,
framework/plugins/{defaultpreemption,dynamicresources}/*.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dra_planner.allocation.bulk import can_bulk
from dra_planner.allocation.choosing import Choose, Strategy, chooser
from dra_planner.allocation.cluster import Cluster, QueuedPod, is_full, stale_claim, usable_on
from dra_planner.allocation.place import place
from dra_planner.allocation.preemption import find_victims
from dra_planner.allocation.search import STEP_BUDGET
from dra_planner.allocation.standings import Standings
from dra_planner.allocation.state import NodeState
from dra_planner.allocation.topology import Surroundings, look_around
from dra_planner.allocation.verdicts import Answer, Placement, Refusal, Undecided
from dra_planner.model import ObjectKey


@dataclass(frozen=True, slots=True)
class Pending:
    """A pod that found no node. `verdicts` say why, per node; `error` is what ended the attempt on all of them."""

    pod: QueuedPod
    verdicts: Mapping[str, Refusal | Undecided]
    error: Refusal | None = None

    @property
    def is_undecided(self) -> bool:
        """Whether some node might take it."""
        return self.error is None and any(isinstance(v, Undecided) for v in self.verdicts.values())


@dataclass(frozen=True, slots=True)
class RunResult:
    """The cluster afterwards; pods by what became of them, `placed` with their nodes."""

    cluster: Cluster
    placed: Mapping[ObjectKey, str]
    pending: tuple[Pending, ...]
    preempted: tuple[ObjectKey, ...] = ()


def run(
    queue: Sequence[QueuedPod],
    cluster: Cluster,
    choose: Strategy | Choose = "least-allocated",
    *,
    seed: int | None = None,
    budget: int = STEP_BUDGET,
) -> RunResult:
    """Return what becomes of the pods of the queue. `choose` says which feasible node wins.

    Pods that preemption made room for go first to the queue again, and so do those that waited when devices came free.
    """
    pick = chooser(choose, seed)
    standings = Standings(choose if seed is None and not callable(choose) else None, budget)
    waiting = sorted(queue, key=_urgency)
    placed: dict[ObjectKey, str] = {}
    pending: dict[ObjectKey, Pending] = {}
    preempted: list[ObjectKey] = []
    while waiting:
        pod = waiting.pop(0)
        outcome = schedule(pod, cluster, pick, standings)
        if isinstance(outcome, Pending):
            pending[pod.name] = outcome
            continue
        for name in outcome.victims:
            preempted.append(name)
            placed.pop(name, None)
            if cluster.pods[name].pod.recreated:
                waiting.append(cluster.pods[name].pod)
        if outcome.victims:
            waiting = sorted([*waiting, *(p.pod for p in pending.values())], key=_urgency)
            pending.clear()
        cluster = outcome.cluster
        placed[pod.name] = outcome.node
    return RunResult(cluster, placed, tuple(pending.values()), tuple(preempted))


def _urgency(pod: QueuedPod) -> int:
    return -pod.shape.pod.priority


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One pod on its node, and the cluster with it; `victims` had to go."""

    cluster: Cluster
    node: str
    victims: tuple[ObjectKey, ...] = ()


def schedule(pod: QueuedPod, cluster: Cluster, pick: Choose, standings: Standings) -> Scheduled | Pending:
    """Return where one pod goes: to the chosen feasible node, else where room can be made, else nowhere."""
    standing = standings.of(pod.shape, cluster.nodes)
    around = look_around(pod.shape, cluster.nodes)
    best = standing.best() if around is None and can_bulk(pod.shape) else None
    if best is not None:
        return Scheduled(cluster.with_placement(pod, *best), best[0])
    verdicts = {
        name: _in_cluster(verdict, pod, cluster.nodes[name], cluster, around)
        for name, verdict in standing.verdicts.items()
    }
    error = next((v for v in verdicts.values() if isinstance(v, Refusal) and v.kind == "error"), None)
    feasible = [(name, v) for name, v in verdicts.items() if isinstance(v, Placement)]
    if error is None and feasible:
        name = pick(feasible)
        verdict = verdicts[name]
        assert isinstance(verdict, Placement)
        return Scheduled(cluster.with_placement(pod, name, verdict), name)
    refusals = {name: v for name, v in verdicts.items() if not isinstance(v, Placement)}
    if error is not None:
        return Pending(pod, refusals, error)
    freed = _free_unused_claim(pod, cluster)
    if freed is not None:
        return schedule(pod, freed, pick, standings)
    found = find_victims(pod, cluster, refusals, lambda where, name: _judge_node(pod, where, name, standings.budget))
    if found is None:
        return Pending(pod, refusals)
    node, victims = found
    for victim in victims:
        cluster = cluster.without_pod(victim)
    verdict = _judge_node(pod, cluster, node, standings.budget)
    if not isinstance(verdict, Placement):
        return Pending(pod, refusals)
    return Scheduled(cluster.with_placement(pod, node, verdict), node, victims)


def _judge_node(pod: QueuedPod, cluster: Cluster, name: str, budget: int) -> Answer:
    """Return the verdict of one node on the pod as the cluster is."""
    state = cluster.nodes[name]
    around = look_around(pod.shape, cluster.nodes)
    return _in_cluster(place(pod.shape, state, budget=budget), pod, state, cluster, around)


def _in_cluster(
    verdict: Answer, pod: QueuedPod, state: NodeState, cluster: Cluster, around: Surroundings | None
) -> Answer:
    """Return a node's verdict after what lies beyond the node has been looked at too."""
    if isinstance(verdict, Refusal) and verdict.kind == "filter":
        return verdict
    misfit = around.reject(state.node) if around is not None else None
    if misfit is not None:
        return Refusal(pod.shape, state, "filter", misfit=misfit)
    for entry in pod.shape.claims:
        claim = cluster.claims.get(entry.shared) if entry.shared is not None else None
        if claim is not None and not usable_on(claim, state):
            message = f"claim {entry.shared} is held by another node"
            return Refusal(pod.shape, state, "claim", message, claim=str(entry.shared))
    if isinstance(verdict, Placement):
        return _refuse_reservation(verdict, pod, cluster) or verdict
    return verdict


def _refuse_reservation(placement: Placement, pod: QueuedPod, cluster: Cluster) -> Refusal | None:
    """Return the error with which a node would fail when the pod is added to the consumers of its claims."""
    for entry in pod.shape.claims:
        claim = cluster.claims.get(entry.shared) if entry.shared else None
        if claim is None:
            continue
        state = placement.node
        if is_full(claim):
            count = claim.consumers + 1
            message = (
                f"add reservation to claim {entry.shared}: status.reservedFor: Too many: {count}: "
                "must have at most 256 items"
            )
        elif stale_claim(claim, state.features):
            message = (
                f"add reservation to claim {entry.shared}: status.allocation: field is immutable "
                "(allocated before the upgrade, without a timestamp)"
            )
        else:
            continue
        return Refusal(pod.shape, state, "error", message, claim=str(entry.shared))
    return None


def _free_unused_claim(pod: QueuedPod, cluster: Cluster) -> Cluster | None:
    """Return the cluster without a claim of the pod that holds devices for nobody."""
    for entry in pod.shape.claims:
        claim = cluster.claims.get(entry.shared) if entry.shared else None
        if claim is not None and entry.shared is not None and not claim.consumers:
            return cluster.without_claim(entry.shared)
    return None
