"""The nodes that one scheduling attempt checks: all nodes of a small cluster, and a part of a large
one.

Source of the behavior: kubernetes/kubernetes:pkg/scheduler/schedule_one.go
(findNodesThatPassFilters, numFeasibleNodesToFind) @v1.36.3. kube-scheduler checks nodes in
parallel, so it might check a few more nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from dra_planner.allocation import Answer, Placement, Refusal, Undecided
from dra_planner.simulation.cluster.stages import NodeStage

ALL_BELOW = 100  # number of nodes from which on the scheduler checks only some of them
_LEAST_PERCENT, _PERCENT, _NODES_PER_PERCENT = 5, 50, 125

Judge = Callable[[NodeStage], Answer]


class Window(Struct):
    """The checked nodes, from number `begin` on (cyclically). `seen` is their number.

    `feasible` are the stages that accept the pod, with their number of nodes, and `refused` are the
    other stages. `answers` and `refusals` can also contain stages from other attempts, which aren't
    evaluated again.
    """

    stage_of: Sequence[NodeStage]
    begin: int = 0
    seen: int = 0
    answers: dict[NodeStage, Placement] = {}
    refusals: dict[NodeStage, Refusal | Undecided] = {}
    feasible: dict[NodeStage, int] = {}
    refused: dict[NodeStage, Refusal | Undecided] = {}

    def look(self, nodes: Mapping[NodeStage, int], judge: Judge) -> None:
        """Check this number of nodes in each of these stages."""
        answers, refused, feasible = self.answers, self.refused, self.feasible
        known = self.refusals
        for stage in [each for each in nodes if each not in answers]:
            if stage in refused:
                continue
            refusal = known.get(stage)
            if refusal is not None:
                refused[stage] = refusal
                continue
            verdict = judge(stage)
            if isinstance(verdict, Placement):
                answers[stage] = verdict
            else:
                refused[stage] = known[stage] = verdict
        if not refused and not feasible:
            feasible.update(nodes)
            return
        for stage, count in nodes.items():
            if stage not in refused:
                feasible[stage] = feasible.get(stage, 0) + count

    @property
    def error(self) -> Refusal | None:
        """The error that ends the attempt on all nodes."""
        return next(
            (v for v in self.refused.values() if isinstance(v, Refusal) and v.kind == "error"), None
        )

    def node(self, stage: NodeStage, number: int) -> int:
        """Return the node at position `number` (from 0) in a stage, in the order in which nodes are
        checked.
        """
        position = self.begin - 1
        for _ in range(number + 1):
            position = self._next(stage, position + 1)
        return position

    def distance(self, node: int) -> int:
        """Return the distance of a node from the first one."""
        return (node - self.begin) % len(self.stage_of)

    def _next(self, stage: NodeStage, position: int) -> int:
        try:
            return self.stage_of.index(stage, position)
        except ValueError:
            return self.stage_of.index(stage)


def nodes_wanted(total: int) -> int:
    """Return the number of accepting nodes, out of this number of nodes, after which the scheduler
    stops.
    """
    if total < ALL_BELOW:
        return total
    return max(
        ALL_BELOW, total * max(_LEAST_PERCENT, _PERCENT - total // _NODES_PER_PERCENT) // 100
    )


def look_around(
    stage_of: Sequence[NodeStage],
    begin: int,
    judge: Judge,
    answers: dict[NodeStage, Placement],
    refusals: dict[NodeStage, Refusal | Undecided],
) -> Window:
    """Return the checked nodes, from number `begin` on, until enough nodes accept the pod.

    New results are added to `answers` and `refusals`.
    """
    window = Window(stage_of, begin, answers=answers, refusals=refusals)
    total = len(stage_of)
    wanted = missing = nodes_wanted(total)
    while missing > 0 and window.seen < total:
        first = (begin + window.seen) % total
        piece = stage_of[first : min(first + missing, total, first + total - window.seen)]
        window.seen += len(piece)
        window.look(Counter(piece), judge)
        missing = wanted - sum(window.feasible.values())
    return window
