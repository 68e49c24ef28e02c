"""Fill nodes in the same way as the packing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from dra_planner.allocation import NodeState, Placement, place
from dra_planner.model import Shape, WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.content import NodeContent
from dra_planner.plan.nodes.filler import MOST_FILLED, NodeFiller
from dra_planner.sizing import NodePattern


def fill_pattern(
    pattern: NodePattern, empty: NodeState, shapes: Mapping[str, Shape]
) -> Iterator[tuple[Shape, Placement]]:
    """Yield each pod of a pattern with its placement, DaemonSets first, like the sizing.

    `empty` is the state of an empty node of the pattern's pool. `shapes` are the demand's shapes by
    ID.
    """
    state = empty
    daemons = sorted(
        (shape for shape in shapes.values() if shape.per_node), key=lambda each: each.id
    )
    pods = [(daemon, 1) for daemon in daemons]
    pods += [(shapes[name], count) for name, count in pattern.pods]
    for shape, count in pods:
        for _ in range(count):
            answer = place(shape, state)
            if isinstance(answer, Placement):
                state = answer.node
                yield shape, answer


class PackedNodes:
    """Distributes pods of workloads to the nodes of a packing, by shape."""

    def __init__(self, plan: Plan, filler: NodeFiller) -> None:
        self._plan = plan
        self._filler = filler
        self._shapes = {shape.id: shape for shape in plan.demand.shapes}
        self._left: dict[str, list[tuple[WorkloadRef, int]]] = {}
        for shape in plan.demand.shapes:
            members = sorted(shape.members, key=lambda each: (each.workload, each.pod_set))
            self._left[shape.id] = [
                (each.workload, each.figures.at(plan.level) or 0) for each in members
            ]

    def contents(self) -> Iterator[tuple[str, NodeContent, int]]:
        """Yield each group of equal nodes: its pool, content, and number."""
        for pattern in self._plan.judgement.sizing.patterns:
            placed = list(fill_pattern(pattern, self._filler.open(pattern.pool), self._shapes))
            state = placed[-1][1].node if placed else self._filler.open(pattern.pool)
            left = pattern.nodes
            while left > 0:
                nodes = max(1, min(left, self._alike(placed)))
                yield pattern.pool, self._content(placed, state, nodes), nodes
                left -= nodes

    def _alike(self, placed: Iterable[tuple[Shape, Placement]]) -> int:
        """Return the number of consecutive nodes on which each shape's pods belong to one
        workload.
        """
        per_node = Counter(shape.id for shape, _ in placed if not shape.per_node)
        return min(
            (self._next(name)[1] // pods for name, pods in per_node.items()),
            default=MOST_FILLED * 1_000,
        )

    def _next(self, shape: str) -> tuple[WorkloadRef, int]:
        """Return the workload of the shape's next pod, and its number of remaining pods."""
        members = self._left[shape]
        while len(members) > 1 and members[0][1] <= 0:
            members.pop(0)
        return members[0]

    def _content(
        self, placed: Iterable[tuple[Shape, Placement]], state: NodeState, nodes: int
    ) -> NodeContent:
        content = NodeContent(state)
        for shape, placement in placed:
            ref, left = self._next(shape.id)
            if not shape.per_node:
                self._left[shape.id][0] = (ref, left - nodes)
            content.add(ref)
            for got in placement.picks:
                content.hold(got.picks, ref, str(got.shared or got.name))
        return content
