"""What every node says to a shape, kept while pods come: only nodes that have changed are asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from dra_planner.allocation.choosing import Choice, Strategy, score_of
from dra_planner.allocation.place import place
from dra_planner.allocation.state import NodeState
from dra_planner.allocation.verdicts import Answer, Placement, Refusal
from dra_planner.model import Shape

Rank = tuple[int, int, int]
"""How good a node is, the smallest being the best; its number in the cluster comes last."""


@dataclass(slots=True)
class Standing:
    """Verdicts of all nodes on one shape, in the order of the cluster, each for the state the node was in last.

    With a `strategy` the best node is at hand, ties going to the first; without one nothing is ranked.
    """

    shape: Shape
    strategy: Strategy | None
    budget: int
    verdicts: dict[str, Answer] = field(default_factory=dict)
    _states: dict[str, NodeState] = field(default_factory=dict)
    _errors: set[str] = field(default_factory=set)
    _ranks: dict[str, Rank] = field(default_factory=dict)
    _best: list[tuple[Rank, str]] = field(default_factory=list)  # a heap; with ranks that nodes had before

    def refresh(self, nodes: Mapping[str, NodeState]) -> None:
        """Ask the nodes that have changed since. The cluster's nodes are always the same ones."""
        states = self._states
        changed = [(number, name) for number, (name, s) in enumerate(nodes.items()) if states.get(name) is not s]
        for number, name in changed:
            verdict = place(self.shape, nodes[name], budget=self.budget)
            self.verdicts[name], states[name] = verdict, nodes[name]
            self._ranks.pop(name, None)
            self._errors.discard(name)
            if isinstance(verdict, Refusal) and verdict.kind == "error":
                self._errors.add(name)
            elif isinstance(verdict, Placement) and self.strategy is not None:
                preferred, share = score_of(verdict, self.strategy)
                self._ranks[name] = (-preferred, -share, number)
                heappush(self._best, (self._ranks[name], name))

    def best(self) -> Choice | None:
        """Return the node that the strategy chooses, or None where none is feasible or an error ends the attempt."""
        while self._best and self._ranks.get(self._best[0][1]) != self._best[0][0]:
            heappop(self._best)
        if self._errors or not self._best:
            return None
        name = self._best[0][1]
        verdict = self.verdicts[name]
        assert isinstance(verdict, Placement)  # nothing else is ranked
        return name, verdict


@dataclass(slots=True)
class Standings:
    """The standing of each shape that has come so far."""

    strategy: Strategy | None
    budget: int
    _known: dict[str, Standing] = field(default_factory=dict)

    def of(self, shape: Shape, nodes: Mapping[str, NodeState]) -> Standing:
        """Return what the nodes say to the shape as they are now."""
        standing = self._known.get(shape.id)
        if standing is None:
            standing = self._known[shape.id] = Standing(shape, self.strategy, self.budget)
        standing.refresh(nodes)
        return standing
