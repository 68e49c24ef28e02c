"""States of nodes, each judged once for each kind of pod however many nodes are in it.

Two nodes in one stage have equal futures: the same pods fit and score the same. So pods are placed on stages, and
only then on one of their nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from dra_planner.allocation import Answer, NodeState, Placement, place
from dra_planner.allocation.node_selectors import term_matches, tolerates
from dra_planner.allocation.template import Template
from dra_planner.model import Node, PodSpec
from dra_planner.records import dataclass
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.profile import Profile
from dra_planner.simulation.rules import KindSet
from dra_planner.simulation.scores import CpuMemory, balance_score, fit_score

Company = tuple[tuple[int, int], ...]
"""How many pods of each noticed kind are on a node, by the number of the kind."""


@dataclass(frozen=True, slots=True)
class StageAnswer:
    """What a stage says to one more pod of a kind: the verdict, and the scores.

    `fixed` is final; the others are raw and become scores in comparison with other nodes, where they are not all 0:
    `compares` says so. `fits`: the verdict is a placement.
    """

    verdict: Answer
    fixed: int = 0
    taints: int = 0
    preferred_nodes: int = 0
    alternatives: int = 0
    fits: bool = False
    compares: bool = False


class Stage:
    """A state of nodes. `scored` is what counts as requested when nodes are scored."""

    __slots__ = (
        "_counts", "afters", "answers", "company", "number", "scored", "state",
    )  # fmt: skip

    def __init__(
        self, number: int, state: NodeState, scored: CpuMemory, company: Company, answers: dict[int, StageAnswer]
    ) -> None:
        self.number = number
        self.state = state
        self.scored = scored
        self.company = company
        self.answers = answers  # by number of kind; those of all stages that differ in their company alone
        self.afters: dict[int, Stage] = {}
        self._counts: dict[KindSet, int] = {}

    @property
    def node(self) -> Node:
        """The node, or one that stands for all of them."""
        return self.state.node

    def label(self, key: str) -> str | None:
        return self.state.node.meta.labels.get(key)

    def count(self, kinds: KindSet) -> int:
        """Return the pods of these kinds on each of the nodes."""
        found = self._counts.get(kinds)
        if found is None:
            found = 0
            for kind, pods in self.company:
                if kind in kinds:
                    found += pods
            self._counts[kinds] = found
        return found


class _Wishes(NamedTuple):
    """What scores a node for a kind whatever is on it."""

    allocatable: CpuMemory
    taints: int
    preferred_nodes: int


class Stages:
    """Makes stages, each once, and asks them."""

    def __init__(self, profile: Profile, noticed: Sequence[bool], place_budget: int) -> None:
        """`noticed`, by number of kind: whether rules speak of such pods; `place_budget` bounds one search."""
        self.profile = profile
        self._noticed = noticed
        self._place_budget = place_budget
        self._known: dict[Hashable, Stage] = {}
        self._answers: dict[Hashable, dict[int, StageAnswer]] = {}
        self._wishes: dict[tuple[int, Template], _Wishes] = {}

    def open(self, state: NodeState, scored: CpuMemory, company: Company) -> Stage:
        """Return the stage of nodes in this state."""
        key = (state.key, scored, company)
        stage = self._known.get(key)
        if stage is None:
            answers = self._answers.setdefault(key[:2], {})
            stage = self._known[key] = Stage(len(self._known), state, scored, company, answers)
        return stage

    def with_pod(self, stage: Stage, state: NodeState, kind: PodKind) -> Stage:
        """Return the stage after a pod of the kind has come; `state` is what the allocator made of the node."""
        company = _changed(stage.company, kind.number, 1) if self._noticed[kind.number] else stage.company
        return self.open(state, stage.scored.plus(kind.scored), company)

    def without_pod(self, stage: Stage, state: NodeState, kind: PodKind) -> Stage:
        """Return the stage after a pod of the kind has gone."""
        company = _changed(stage.company, kind.number, -1) if self._noticed[kind.number] else stage.company
        return self.open(state, stage.scored.minus(kind.scored), company)

    def with_state(self, stage: Stage, state: NodeState) -> Stage:
        """Return the stage of the same pods on a node whose devices have changed."""
        return self.open(state, stage.scored, stage.company)

    def ask(self, stage: Stage, kind: PodKind) -> StageAnswer:
        """Return what the stage says to one more pod of the kind; rules that span nodes are left aside."""
        answer = stage.answers.get(kind.number)
        if answer is None:
            answer = stage.answers[kind.number] = self._ask(stage, kind)
        return answer

    def after(self, stage: Stage, kind: PodKind) -> Stage | None:
        """Return the stage after one more pod of the kind has come; None where it does not fit."""
        after = stage.afters.get(kind.number)
        if after is None:
            verdict = self.ask(stage, kind).verdict
            if not isinstance(verdict, Placement):
                return None
            after = stage.afters[kind.number] = self.with_pod(stage, verdict.node, kind)
        return after

    def _ask(self, stage: Stage, kind: PodKind) -> StageAnswer:
        assert kind.shape is not None  # pods that were there before are placed by nobody
        verdict = place(kind.shape, stage.state, budget=self._place_budget)
        if not isinstance(verdict, Placement):
            return StageAnswer(verdict)
        wishes = self._wishes_of(kind, stage)
        allocatable = wishes.allocatable
        fit = fit_score(stage.scored.plus(kind.scored), allocatable, self.profile)
        balance = 0
        if not kind.is_best_effort:
            by_change = stage.state.features.scores_balance_change
            taken = dict(stage.state.used)
            used = CpuMemory(taken.get("cpu", 0), taken.get("memory", 0))
            balance = balance_score(used, used.plus(kind.requested), allocatable, by_change=by_change)
        return StageAnswer(
            verdict,
            self.profile.fit * fit + self.profile.balance * balance,
            wishes.taints,
            wishes.preferred_nodes,
            verdict.rank,
            fits=True,
            compares=bool(wishes.taints or wishes.preferred_nodes or verdict.rank),
        )

    def _wishes_of(self, kind: PodKind, stage: Stage) -> _Wishes:
        key = kind.number, stage.state.template
        wishes = self._wishes.get(key)
        if wishes is None:
            node = stage.node
            amounts = CpuMemory(node.allocatable.get("cpu", 0), node.allocatable.get("memory", 0))
            wishes = _Wishes(amounts, _unwelcome_taints(kind.spec, node), _preference(kind.spec, node))
            self._wishes[key] = wishes
        return wishes


def _changed(company: Company, kind: int, by: int) -> Company:
    counts = dict(company)
    counts[kind] = counts.get(kind, 0) + by
    return tuple(sorted([(number, pods) for number, pods in counts.items() if pods]))


def _unwelcome_taints(spec: PodSpec, node: Node) -> int:
    """Count the PreferNoSchedule taints that no toleration for that effect (or for every effect) covers."""
    tolerations = [each for each in spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(each, taint) for each in tolerations)
        for taint in node.taints
    )


def _preference(spec: PodSpec, node: Node) -> int:
    return sum(each.weight for each in spec.preferred_nodes if term_matches(each.term, node))
