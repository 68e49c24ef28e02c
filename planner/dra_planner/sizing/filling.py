"""What nodes become as items are put on them: the allocator's answers, remembered.

Nodes in equal states have equal futures, so a state is asked about an item once, however many nodes are in it
and however many pods there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from dra_planner.allocation import NodeState, Placement, Refusal, Undecided
from dra_planner.model import Reason, Shape
from dra_planner.sizing.items import Item, Part

Place = Callable[[Shape, NodeState], Placement | Refusal | Undecided]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a node takes no further item, and how many pods of it were on their way when it stopped."""

    answer: Refusal | Undecided
    shape: Shape
    pods: int = 0

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why, nearest miss first; worked out when asked for."""
        from dra_planner.allocation import reasons_of  # only what is pending is explained

        return reasons_of(self.answer)

    @property
    def is_undecided(self) -> bool:
        return isinstance(self.answer, Undecided)

    @property
    def is_error(self) -> bool:
        """Whether the scheduler's attempt fails on such a node, and with it the pod on every node."""
        return isinstance(self.answer, Refusal) and self.answer.kind == "error"

    @property
    def is_elsewhere(self) -> bool:
        """Whether the pod is not meant for such nodes: a DaemonSet makes none for them."""
        return self._filter in ("node-name", "taint", "node-selector")

    @property
    def lacks_label(self) -> bool:
        """Whether nodes have no label that rules between the pods need: then no pods beside these help."""
        return self._filter == "topology-label"

    @property
    def _filter(self) -> str:
        misfit = self.answer.misfit if isinstance(self.answer, Refusal) else None
        return "" if misfit is None else misfit.filter


class Stage:
    """A state of a node of one pool; compared by identity, since equal states are the same object."""

    __slots__ = ("after", "pool", "state")

    def __init__(self, pool: int, state: NodeState) -> None:
        self.pool = pool
        self.state = state
        self.after: dict[str, Stage | Stop] = {}


class Filling:
    """Asks the allocator, and remembers."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stages: dict[tuple[int, Hashable], Stage] = {}

    def open(self, pool: int, state: NodeState) -> Stage:
        """Return the stage of a node of that pool in this state."""
        return self._stages.setdefault((pool, state.key), Stage(pool, state))

    def add(self, item: Item, stage: Stage) -> Stage | Stop:
        """Return the node with one more of the item on it, or why it takes none."""
        found = stage.after.get(item.id)
        if found is None:
            found = stage.after[item.id] = self._add(item.parts, stage)
        return found

    def fill(self, item: Item, stage: Stage, limit: int) -> tuple[int, Stage]:
        """Return how many of the item, at most `limit`, go onto the node one after another, and what it becomes.

        An item that takes nothing but amounts (cpu, memory, pod slots) is asked about once and divided for the rest.
        """
        number = asked = 0
        while number < limit and asked < MOST_ASKED:
            after = self.add(item, stage)
            if isinstance(after, Stop):
                break
            asked, number = asked + 1, number + 1
            again = min(_repeats(stage.state, after.state), limit - number)
            stage = self.open(stage.pool, _repeated(stage.state, after.state, again)) if again else after
            number += again
        return number, stage

    def begin(self, shape: Shape, stage: Stage) -> Stage | Stop:
        """Return the node with one pod of the shape, whichever item it belongs to."""
        return self._add((Part(shape, 1),), stage)

    def _add(self, parts: Sequence[Part], stage: Stage) -> Stage | Stop:
        state, pods = stage.state, 0
        for part in parts:
            for _ in range(part.pods):
                answer = self._place(part.shape, state)
                if not isinstance(answer, Placement):
                    return Stop(answer, part.shape, pods)
                state, pods = answer.node, pods + 1
        return self.open(stage.pool, state)


MOST_ASKED = 1_000
"""Items that take devices and are tried on one node at most; kubelets take at most 250 pods without further ado."""


def _repeats(before: NodeState, after: NodeState) -> int:
    """Return how often the step between two states can be taken again for certain: 0 where it took more than amounts.

    Nodes that differ in amounts alone answer alike as long as the amounts last.
    """
    if (before.taken, before.shares, before.ports, before.pods, before.claims) != (
        after.taken,
        after.shares,
        after.ports,
        after.pods,
        after.claims,
    ):
        return 0
    left, used = after.node.allocatable, dict(before.used)
    steps = [(name, amount, amount - used.get(name, 0)) for name, amount in after.used]
    return min(((left.get(name, 0) - amount) // step for name, amount, step in steps if step > 0), default=0)


def _repeated(before: NodeState, after: NodeState, times: int) -> NodeState:
    """Return what becomes of the node when the step between two states is taken so many times more."""
    used = dict(before.used)
    amounts = ((name, amount + times * (amount - used.get(name, 0))) for name, amount in after.used)
    return replace(after, used=tuple(amounts), _cache={})
