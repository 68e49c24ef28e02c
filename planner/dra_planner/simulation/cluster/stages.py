"""States of nodes, each evaluated once for each kind of pod, for any number of nodes.

Nodes in the same stage behave equally: the same pods fit, with equal scores. So pods are placed on
a stage first, and then on one of its nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_planner.allocation import Answer, NodeState, Placement, place
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.place import needs_of
from dra_planner.model import Node
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.pod_requests import CpuMemory
from dra_planner.simulation.scheduler.pod_rules import KindSet

Company = tuple[tuple[int, int], ...]
"""Number of pods of each noticed kind on a node, by the kind's number."""


class NodeHoldings:
    """The contents of a node except amounts (CPU, memory, pods, …): devices, ports, claims, and
    pods to which other pods' rules refer.

    If the amounts suffice, all nodes with equal holdings give the same answer to a pod.
    `placements` are the cached answers by the kind's number, and `afters` are the holdings after
    the placement.
    """

    __slots__ = ("afters", "parts", "placements")

    def __init__(self, state: NodeState) -> None:
        self.parts = state.taken, state.shares, state.ports, state.pods, state.claims
        self.placements: dict[int, Placement] = {}
        self.afters: dict[int, NodeHoldings] = {}


class NodeLoad:
    """The amounts on nodes of one template: the `free` amounts, the `used` CPU and memory, and the
    amounts that count as requested for node scores.

    `scores` are the scores of nodes with this load, by pod amounts. `amounts` are the values of
    `NodeState.used`. `afters` are the loads with one more pod, by number of kind, or None if the
    amounts don't suffice.
    """

    __slots__ = ("afters", "amounts", "free", "scored", "scores", "used")

    def __init__(
        self, template: Template, amounts: tuple[tuple[str, int], ...], scored: CpuMemory
    ) -> None:
        allocatable, used = template.node.allocatable, dict(amounts)
        self.amounts = amounts
        self.free = {name: amount - used.get(name, 0) for name, amount in allocatable.items()}
        self.free.update(
            (name, -amount) for name, amount in used.items() if name not in allocatable
        )
        self.used = CpuMemory(used.get("cpu", 0), used.get("memory", 0))
        self.scored = scored
        self.scores: dict[Hashable, int] = {}
        self.afters: dict[int, NodeLoad | None] = {}


class NodeStage:
    """A state of nodes."""

    __slots__ = (
        "_counts",
        "_state",
        "afters",
        "answers",
        "company",
        "load",
        "number",
        "pods",
        "taken",
        "template",
    )

    def __init__(
        self,
        number: int,
        template: Template,
        taken: NodeHoldings,
        load: NodeLoad,
        company: Company,
        answers: dict[int, Answer],
    ) -> None:
        self.number = number
        self.template = template
        self.taken = taken
        self.load = load
        self.company = company
        self.answers = answers  # by the kind's number; shared by all stages with this state
        self.afters: dict[int, NodeStage] = {}
        self.pods = dict(company)
        self._counts: dict[KindSet, int] = {}
        self._state: NodeState | None = None

    @property
    def state(self) -> NodeState:
        """The state of the node in the allocator's form, created on first use."""
        state = self._state
        if state is None:
            state = self._state = NodeState(self.template, self.load.amounts, *self.taken.parts)
        return state

    @property
    def node(self) -> Node:
        """The node, or a representative of all nodes in the stage."""
        return self.template.node

    def label(self, key: str) -> str | None:
        return self.template.node.meta.labels.get(key)

    def count(self, kinds: KindSet) -> int:
        """Return the pods of these kinds on each of the nodes."""
        if len(kinds) == 1:
            for kind in kinds:
                return self.pods.get(kind, 0)
        found = self._counts.get(kinds)
        if found is None:
            found = self._counts[kinds] = sum(
                [pods for kind, pods in self.company if kind in kinds]
            )
        return found


Population = Sequence[tuple[NodeStage, int]]
"""Stages with their number of nodes."""


class Stages:
    """Creates each stage once, and evaluates it."""

    def __init__(self, noticed: Sequence[bool], place_budget: int) -> None:
        """Create the stages.

        By the kind's number, `noticed` is True for kinds to which rules of other pods refer.
        `place_budget` limits one search.
        """
        self._noticed = noticed
        self._place_budget = place_budget
        self._taken: dict[Hashable, NodeHoldings] = {}
        self._loads: dict[Hashable, NodeLoad] = {}
        self._answers: dict[Hashable, dict[int, Answer]] = {}
        self._known: dict[Hashable, NodeStage] = {}

    def open(self, state: NodeState, scored: CpuMemory, company: Company) -> NodeStage:
        """Return the stage of nodes in this state."""
        taken, load = self._taken_of(state), self._load(state.template, state.used, scored)
        return self._stage(state.template, taken, load, company)

    def _taken_of(self, state: NodeState) -> NodeHoldings:
        but_amounts = (
            state.template,
            state.taken,
            state.shares,
            state.ports,
            state.pods,
            state.claims,
        )
        taken = self._taken.get(but_amounts)
        if taken is None:
            taken = self._taken[but_amounts] = NodeHoldings(state)
        return taken

    def _load(
        self, template: Template, amounts: tuple[tuple[str, int], ...], scored: CpuMemory
    ) -> NodeLoad:
        key = template, amounts, scored
        load = self._loads.get(key)
        if load is None:
            load = self._loads[key] = NodeLoad(template, amounts, scored)
        return load

    def _stage(
        self, template: Template, taken: NodeHoldings, load: NodeLoad, company: Company
    ) -> NodeStage:
        key = taken, load, company
        stage = self._known.get(key)
        if stage is None:
            answers = self._answers.setdefault((taken, load.amounts), {})
            stage = self._known[key] = NodeStage(
                len(self._known), template, taken, load, company, answers
            )
        return stage

    def without_pod(self, stage: NodeStage, state: NodeState, kind: PodKind) -> NodeStage:
        """Return the stage after a pod of the kind is removed."""
        company = (
            _changed(stage.company, kind.number, -1)
            if self._noticed[kind.number]
            else stage.company
        )
        return self.open(state, stage.load.scored.minus(kind.scored), company)

    def with_state(self, stage: NodeStage, state: NodeState) -> NodeStage:
        """Return the stage with the same pods on a node whose devices have changed."""
        return self.open(state, stage.load.scored, stage.company)

    def ask(self, stage: NodeStage, kind: PodKind) -> Answer:
        """Return the stage's answer to one more pod of the kind, without rules that span nodes.

        A placement belongs to this stage, except for the amounts of `node`.
        """
        placement = stage.taken.placements.get(kind.number)
        if placement is not None and self._load_after(stage, kind) is not None:
            return placement
        answer = stage.answers.get(kind.number)
        if answer is None:
            assert kind.shape is not None  # pods that already exist aren't placed again
            answer = stage.answers[kind.number] = place(
                kind.shape, stage.state, budget=self._place_budget
            )
            if isinstance(answer, Placement):
                stage.taken.placements[kind.number] = answer
        return answer

    def after(self, stage: NodeStage, kind: PodKind) -> NodeStage | None:
        """Return the stage after adding one more pod of the kind, or None if it doesn't fit."""
        number = kind.number
        after = stage.afters.get(number)
        if after is None:
            answer = self.ask(stage, kind)
            load = self._load_after(stage, kind)
            if not isinstance(answer, Placement) or load is None:
                return None
            taken = stage.taken.afters.get(number)
            if taken is None:
                taken = stage.taken.afters[number] = self._taken_of(answer.node)
            company = _changed(stage.company, number, 1) if self._noticed[number] else stage.company
            after = stage.afters[number] = self._stage(stage.template, taken, load, company)
        return after

    def _load_after(self, stage: NodeStage, kind: PodKind) -> NodeLoad | None:
        """Return the load with one more pod of the kind, or None if the amounts don't suffice."""
        load, number = stage.load, kind.number
        if number in load.afters:
            return load.afters[number]
        assert kind.shape is not None  # pods that already exist aren't placed again
        requests, free, used, after = (
            needs_of(kind.shape, stage.template).requests,
            load.free,
            dict(load.amounts),
            None,
        )
        if all(amount <= free.get(name, 0) for name, amount in requests.items()):
            for name, amount in requests.items():
                used[name] = used.get(name, 0) + amount
            after = self._load(
                stage.template, tuple(sorted(used.items())), load.scored.plus(kind.scored)
            )
        load.afters[number] = after
        return after


def _changed(company: Company, kind: int, by: int) -> Company:
    counts = dict(company)
    counts[kind] = counts.get(kind, 0) + by
    return tuple(sorted([(number, pods) for number, pods in counts.items() if pods]))
