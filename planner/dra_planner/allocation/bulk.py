"""Equal pods on equal nodes, many at a time, with the same result as pod by pod.

Nodes stand in their order as runs of equal state; a run's first nodes change first, so runs stay whole ranges. The cost
depends on how many different states and groups there are, not on how many nodes and pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dra_planner.allocation.choosing import score_of
from dra_planner.allocation.place import place
from dra_planner.allocation.search import STEP_BUDGET
from dra_planner.allocation.state import NodeState
from dra_planner.allocation.verdicts import Placement, Refusal, Undecided
from dra_planner.model import Shape

BulkStrategy = Literal["least-allocated", "most-allocated", "first"]


@dataclass(frozen=True, slots=True)
class NodeRun:
    """`count` nodes in a row in the same state, the first of them number `start`."""

    state: NodeState
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class GroupResult:
    """What became of a group of equal pods. `nodes` are ranges of nodes (start, nodes, pods on each), in the order in
    which they were filled; `refusals` why the rest is pending, one per different state of a node.
    """

    shape: Shape
    placed: int
    pending: int
    nodes: tuple[tuple[int, int, int], ...]
    refusals: tuple[Refusal | Undecided, ...] = ()


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The nodes afterwards, and what became of each group."""

    runs: tuple[NodeRun, ...]
    groups: tuple[GroupResult, ...]


def can_bulk(shape: Shape) -> bool:
    """Tell whether the pods of a shape mind nothing beyond their own node: only such can be placed many at a time."""
    pod = shape.pod
    alone = not (pod.pod_affinity or pod.pod_anti_affinity or pod.topology_spread)
    return alone and all(claim.shared is None for claim in shape.claims)


def equal_nodes(state: NodeState, count: int, start: int = 0) -> NodeRun:
    """Return so many nodes in that state."""
    return NodeRun(state, start, count)


def fill(
    groups: Iterable[tuple[Shape, int]],
    runs: Sequence[NodeRun],
    choose: BulkStrategy = "least-allocated",
    *,
    budget: int = STEP_BUDGET,
) -> BulkResult:
    """Place groups of equal pods in order, each as `run` would one by one (ties go to the first node, nothing is
    preempted). Raises ValueError for a shape that `can_bulk` denies.
    """
    filler = _Filler(list(runs), choose, budget)
    results = []
    for shape, pods in groups:
        if not can_bulk(shape):
            raise ValueError(f"pods of shape {shape.id} mind other nodes or share a claim: use run()")
        results.append(filler.place_group(shape, pods))
    return BulkResult(tuple(filler.runs), tuple(results))


@dataclass(slots=True)
class _Filler:
    runs: list[NodeRun]
    choose: BulkStrategy
    budget: int
    filled: list[tuple[int, int, int]] = field(default_factory=list)

    def place_group(self, shape: Shape, pods: int) -> GroupResult:
        left, self.filled = pods, []
        while left:
            verdicts = [place(shape, r.state, budget=self.budget) for r in self.runs]
            stopped = any(isinstance(v, Refusal) and v.kind == "error" for v in verdicts)
            best = None if stopped else self._best(verdicts)
            if best is None:
                refusals = {v.node.key: v for v in verdicts if not isinstance(v, Placement)}
                return GroupResult(shape, pods - left, left, tuple(self.filled), tuple(refusals.values()))
            verdict = verdicts[best]
            assert isinstance(verdict, Placement)
            left -= self._advance(best, verdict, shape, left)
        return GroupResult(shape, pods, 0, tuple(self.filled))

    def _best(self, verdicts: Sequence[object]) -> int | None:
        """The first of the best runs."""
        feasible = [(n, v) for n, v in enumerate(verdicts) if isinstance(v, Placement)]
        if not feasible:
            return None
        if self.choose == "first":
            return feasible[0][0]
        return max(feasible, key=lambda item: (score_of(item[1], self.choose), -item[0]))[0]

    def _advance(self, number: int, placement: Placement, shape: Shape, left: int) -> int:
        """Place as many pods as go the same way: the nodes of a run, one after the other, take as many each."""
        run = self.runs[number]
        pods, state, stopped = self._fill_one(placement, shape, left)
        nodes = 1 if stopped else min(run.count, left // pods)
        self._replace(number, state, nodes)
        self.filled.append((run.start, nodes, pods))
        return nodes * pods

    def _fill_one(self, placement: Placement, shape: Shape, left: int) -> tuple[int, NodeState, bool]:
        """Fill one node as long as it is no worse than its equals; tell whether an error ends all further attempts."""
        pods, state = 1, placement.node
        while True:
            after = place(shape, state, budget=self.budget)
            if not isinstance(after, Placement):
                return pods, state, isinstance(after, Refusal) and after.kind == "error"
            if pods >= left or not self._stays_best(placement, after):
                return pods, state, False
            pods, state = pods + 1, after.node

    def _stays_best(self, first: Placement, after: Placement) -> bool:
        if self.choose == "first":
            return True
        return score_of(after, self.choose) >= score_of(first, self.choose)

    def _replace(self, number: int, state: NodeState, nodes: int) -> None:
        """Give the first nodes of a run their new state, and join runs that have become equal."""
        run = self.runs[number]
        parts = [NodeRun(state, run.start, nodes)]
        if nodes < run.count:
            parts.append(NodeRun(run.state, run.start + nodes, run.count - nodes))
        before = self.runs[number - 1] if number else None
        if before is not None and before.state.key == state.key and before.start + before.count == run.start:
            parts[0] = NodeRun(before.state, before.start, before.count + nodes)
            self.runs[number - 1 : number + 1] = parts
        else:
            self.runs[number : number + 1] = parts
