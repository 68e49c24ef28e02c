"""Which nodes one attempt of the scheduler looks at: all of a small cluster, part of a large one.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/schedule_one.go
(findNodesThatPassFilters, numFeasibleNodesToFind) @v1.36.3. There, nodes are judged side by side,
so a few more may be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dra_planner.allocation import Answer, Placement, Refusal, Undecided
from dra_planner.simulation.cluster.stages import NodeStage

ALL_BELOW = 100  # nodes; with so many or more only part of them is looked at
_LEAST_PERCENT, _PERCENT, _NODES_PER_PERCENT = 5, 50, 125

Judge = Callable[[NodeStage], Answer]


@dataclass(slots=True)
class Window:
    """Nodes that were looked at, from number `begin` on (after the last comes the first), `seen` of
    them.

    `feasible` are the stages that take the pod, with how many of the nodes are in each; `refused`
    the others. `answers` and `refusals` may hold those of further stages, known from other
    attempts: they are not asked again.
    """

    stage_of: Sequence[NodeStage]
    begin: int = 0
    seen: int = 0
    answers: dict[NodeStage, Placement] = field(default_factory=dict[NodeStage, Placement])
    refusals: dict[NodeStage, Refusal | Undecided] = field(
        default_factory=dict[NodeStage, Refusal | Undecided]
    )
    feasible: dict[NodeStage, int] = field(default_factory=dict[NodeStage, int])
    refused: dict[NodeStage, Refusal | Undecided] = field(
        default_factory=dict[NodeStage, Refusal | Undecided]
    )

    def look(self, nodes: Mapping[NodeStage, int], judge: Judge) -> None:
        """Look at so many nodes in each of these stages."""
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
        """What ends the attempt on all nodes."""
        return next(
            (v for v in self.refused.values() if isinstance(v, Refusal) and v.kind == "error"), None
        )

    def node(self, stage: NodeStage, number: int) -> int:
        """Return the node that is the `number`th in a stage, counted from 0 in the order in which
        they are walked.
        """
        position = self.begin - 1
        for _ in range(number + 1):
            position = self._next(stage, position + 1)
        return position

    def distance(self, node: int) -> int:
        """Return how far a node is from the first."""
        return (node - self.begin) % len(self.stage_of)

    def _next(self, stage: NodeStage, position: int) -> int:
        try:
            return self.stage_of.index(stage, position)
        except ValueError:
            return self.stage_of.index(stage)


def nodes_wanted(total: int) -> int:
    """Return how many nodes of so many have to take the pod before no more are looked at."""
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
    """Return the nodes that are looked at, from number `begin` on, until enough of them take the
    pod.

    `answers` and `refusals` are known already; what is asked is added to them.
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
