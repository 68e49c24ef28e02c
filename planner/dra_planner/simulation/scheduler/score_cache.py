"""Cached answers of loads and devices to every kind of pods, for all pod arrival orders.

Loads are scored once for all pods with equal amounts, and devices are evaluated once for all nodes
with equal holdings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_planner.allocation import Placement, Refusal
from dra_planner.allocation.node.template import Template
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeHoldings, NodeLoad, NodeStage, Stages
from dra_planner.simulation.plugins.plugin import LabelledPlace, Place
from dra_planner.simulation.scheduler.amount_scores import Wishes, WishesByAmounts
from dra_planner.simulation.scheduler.pod_rules import PodRules
from dra_planner.simulation.scheduler.scoring import Scoring

MOST: Final = 240
"""The highest score for amounts that a byte can hold."""
UNASKED, NO_DEVICES, ENDS_ALL, NO_ROOM = range(252, 256)
"""Codes for nodes that don't accept a pod, or whose devices haven't been evaluated yet."""

RawStanding = tuple[tuple[int, ...], Place | None]
"""Raw scores, in the order of `Scoring.compared`, and the place where soft spread constraints count
the node.
"""


class TooMany(Exception):
    """Raised if the scores or standings of a cluster don't fit in bytes."""


class _CachedAnswers:
    """The answers of nodes with equal holdings to each kind: the raw scores of a placement, or the
    reason for a rejection.

    `rejections` has one byte for each kind, 0 with a placement. `by_load` are the answers that
    also depend on amounts (see `scores`).
    """

    __slots__ = ("by_load", "rejections", "verdicts")

    def __init__(self, kinds: int) -> None:
        self.verdicts: dict[int, int | tuple[int, ...]] = {}
        self.rejections = bytearray([UNASKED]) * kinds
        self.by_load: dict[NodeLoad, bytearray] = {}


class Weighing:
    """The answers of loads and devices to every kind, cached for all pod arrival orders."""

    def __init__(
        self, kinds: Sequence[PodKind], rules: Sequence[PodRules], stages: Stages, scoring: Scoring
    ) -> None:
        self.kinds, self.scoring = kinds, scoring
        self.standings = [
            NodeStandings(kind, own, scoring) for kind, own in zip(kinds, rules, strict=True)
        ]
        self._stages = stages
        self.highest = 0  # highest score for amounts
        self._wishes = WishesByAmounts(scoring)
        self._cached: dict[NodeHoldings, _CachedAnswers] = {}
        self._by_load: dict[NodeLoad, bytes] = {}
        self._by_template: dict[Template, tuple[tuple[int, ...], list[Wishes]]] = {}

    def scores(self, stage: NodeStage) -> bytearray:
        """Return, for each kind, the score of a node for its amounts, or the reason for a
        rejection. The list contains all kinds twice.
        """
        cached = self._cached.get(stage.taken)
        if cached is None:
            cached = self._cached[stage.taken] = _CachedAnswers(len(self.kinds))
        found = cached.by_load.get(stage.load)
        if found is None:
            found = cached.by_load[stage.load] = self._compute_scores(stage, cached)
        return found

    def verdict(self, stage: NodeStage, kind: PodKind) -> int | tuple[int, ...]:
        """Return the answer of a node's devices to a pod of a kind, if the amounts are
        sufficient.
        """
        cached = self._cached[stage.taken]
        verdict = cached.verdicts.get(kind.number)
        if verdict is None:
            answer = self._stages.ask(stage, kind)
            if isinstance(answer, Placement):
                verdict = tuple([score(answer) for score in self.scoring.by_placement])
            else:
                verdict = (
                    ENDS_ALL
                    if isinstance(answer, Refusal) and answer.kind == "error"
                    else NO_DEVICES
                )
            cached.verdicts[kind.number] = verdict
            cached.rejections[kind.number] = verdict if isinstance(verdict, int) else 0
            at = 2 * kind.number
            for load, scores in cached.by_load.items():
                if scores[at] == UNASKED:
                    scores[at] = scores[at + 1] = (
                        verdict if isinstance(verdict, int) else self._score(stage, kind, load)
                    )
        return verdict

    def _score(self, stage: NodeStage, kind: PodKind, load: NodeLoad) -> int:
        whose, wishes = self._by_template[stage.template]
        return wishes[whose[kind.number] - 1].score(load)

    def _compute_scores(self, stage: NodeStage, cached: _CachedAnswers) -> bytearray:
        by_kind = self._by_load.get(stage.load)
        if by_kind is None:
            by_kind = self._by_load[stage.load] = self._score_load(stage)
        if any(cached.rejections):
            by_kind = bytes(map(max, by_kind, cached.rejections))
        twice = bytearray(2 * len(by_kind))
        twice[::2] = twice[1::2] = by_kind
        return twice

    def _score_load(self, stage: NodeStage) -> bytes:
        """Return, for each kind, the score of a node for its amounts, or NO_ROOM if they don't
        suffice.
        """
        whose, wishes = self._by_template.get(stage.template) or self._open(stage.template)
        load = stage.load
        scores = [-1, *[each.score(load) for each in wishes]]
        self.highest = max(self.highest, *scores)
        if self.highest > MOST:
            raise TooMany
        results = [NO_ROOM if score < 0 else score for score in scores]
        return bytes(map(results.__getitem__, whose))

    def _open(self, template: Template) -> tuple[tuple[int, ...], list[Wishes]]:
        """Return the different wishes of all kinds, each with the kinds that have them.

        The number 1 means the first wishes, and 0 means none.
        """
        numbers: dict[Wishes, int] = {}
        whose = [
            0
            if kind.shape is None
            else numbers.setdefault(self._wishes.of(kind, template), len(numbers) + 1)
            for kind in self.kinds
        ]
        made = self._by_template[template] = tuple(whose), list(numbers)
        return made


class NodeStandings:
    """Assigns numbers to the standings of nodes for one kind, starting at 0."""

    def __init__(self, kind: PodKind, rules: PodRules, scoring: Scoring) -> None:
        self.all: list[RawStanding] = []
        self.compares = False  # whether any node has a raw score
        self.rules = rules
        self.has_ranks = bool(scoring.by_placement) and _has_alternatives(kind)
        self._kind, self._scoring = kind, scoring
        self._numbers: dict[RawStanding, int] = {}
        self._by_template: dict[
            Template, tuple[tuple[int, ...], tuple[LabelledPlace, ...] | None]
        ] = {}

    def number(self, stage: NodeStage, ranks: tuple[int, ...]) -> int:
        """Return the number of a stage's standing. `ranks` are the raw scores of the placement."""
        raw, labelled = self._by_template.get(stage.template) or self._open(stage.template)
        place = None
        if labelled is not None:
            place = tuple(
                [value if kinds is None else stage.count(kinds) for value, kinds in labelled]
            )
        standing = (*raw, *ranks), place
        number = self._numbers.get(standing)
        if number is None:
            number = self._numbers[standing] = len(self.all)
            self.all.append(standing)
            self.compares |= any(standing[0])
            if number > 255:
                raise TooMany
        return number

    def _open(self, template: Template) -> tuple[tuple[int, ...], tuple[LabelledPlace, ...] | None]:
        raw = tuple([score(self._kind, template.node) for score in self._scoring.by_node])
        domains = self._scoring.domains if self.rules.soft_spread else None
        labelled = domains.places(self.rules, template.node) if domains is not None else ()
        found = self._by_template[template] = raw, labelled
        return found


def _has_alternatives(kind: PodKind) -> bool:
    claims = kind.shape.claims if kind.shape is not None else ()
    return any(request.first_available for claim in claims for request in claim.spec.requests)
