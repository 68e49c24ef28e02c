"""Consequences of lost nodes: their pods are re-created, and the other pods stay on their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from msgspec import Struct

from dra_planner.model import WorkloadRef
from dra_planner.records import equality
from dra_planner.simulation.arrival_orders import ArrivalOrder
from dra_planner.simulation.cluster.nodes import ZONE, PoolNodes, SimulatedNode
from dra_planner.simulation.cluster.stages import NodeStage
from dra_planner.simulation.outcome import SimulationOutcome
from dra_planner.simulation.simulator import Simulator
from dra_planner.simulation.sizing.counts import CountQuestion


@equality(unhashed=("pending",))
class Loss(Struct, frozen=True):
    """Nodes that are lost after one arrival order, and the pods without a node after this loss, by
    workload.
    """

    nodes: tuple[str, ...]
    zone: str  # "" if the failure affects single nodes
    order: ArrivalOrder
    pending: Mapping[WorkloadRef, int]

    @property
    def pods(self) -> int:
        return sum(self.pending.values())


class Losses(Struct, frozen=True, kw_only=True):
    """The losses that leave pods pending, and the number of tried losses.

    `complete` is True if the steps sufficed for all losses.
    """

    found: tuple[Loss, ...]
    tried: int
    complete: bool
    spent: int


def simulate_losses(
    question: CountQuestion,
    counts: Mapping[str, int],
    steps: int,
    *,
    nodes: int = 0,
    zones: int = 0,
) -> Losses:
    """Simulate the loss of any of this number of sized nodes, or of any one zone.

    Every order of the question runs with these counts. Equal nodes of a pool are represented by
    one. Pods that aren't re-created don't count as pending.
    """
    named = (PoolNodes.of(each.offer, each.stem) for each in question.pools)
    sized = tuple(node for pool in named for node in pool.take(counts[pool.name]))
    simulator = Simulator.of(
        question.demand,
        [*question.beside, *sized],
        question.classes,
        question.features,
        profile=question.profile,
        level=question.level,
    )
    found: list[Loss] = []
    spent = tried = 0
    for order in question.orders:
        before = simulator.run(order, steps=max(0, steps - spent))
        spent += before.steps
        choices = _zones(sized) if zones else _nodes(before, sized, nodes)
        for zone, lost in choices:
            if spent > steps or not before.complete:
                return Losses(found=tuple(found), tried=tried, complete=False, spent=spent)
            after = simulator.run(order, steps=steps - spent, lost=lost)
            spent += after.steps
            tried += 1
            pending = {
                ref: each.pending + each.not_created for ref, each in after.workloads.items()
            }
            if not after.complete or any(pending.values()):
                found.append(
                    Loss(lost, zone, order, {ref: pods for ref, pods in pending.items() if pods})
                )
    return Losses(found=tuple(found), tried=tried, complete=spent <= steps, spent=spent)


def _zones(nodes: Sequence[SimulatedNode]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each zone with the names of its nodes."""
    zones: dict[str, list[str]] = {}
    for each in nodes:
        zones.setdefault(each.node.meta.labels.get(ZONE, ""), []).append(each.node.name)
    yield from ((zone, tuple(names)) for zone, names in sorted(zones.items()))


def _nodes(
    outcome: SimulationOutcome, nodes: Sequence[SimulatedNode], most: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of this number of nodes, for every combination of groups of equal nodes."""
    number = {node.name: at for at, node in enumerate(outcome.nodes)}
    groups: dict[tuple[str, NodeStage], list[str]] = {}
    for each in nodes:
        stage = outcome.cluster.stage_of[number[each.node.name]]
        groups.setdefault((each.group, stage), []).append(each.node.name)
    kinds = list(groups.values())
    together = min(most, len(nodes))
    for chosen in combinations_with_replacement(range(len(kinds)), together):
        taken = {at: chosen.count(at) for at in set(chosen)}
        if all(count <= len(kinds[at]) for at, count in taken.items()):
            yield (
                "",
                tuple(name for at, count in sorted(taken.items()) for name in kinds[at][:count]),
            )
