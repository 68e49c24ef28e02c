"""What loads and devices of nodes say to every kind of pods, remembered from one order of arrival
to the next.

Loads are scored once for all pods of equal amounts, and devices are asked for once for all nodes on
which the same is taken.
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
"""The highest score for amounts that a byte holds."""
UNASKED, NO_DEVICES, ENDS_ALL, NO_ROOM = range(252, 256)
"""Why a node takes no pod, or that nobody has asked it for devices yet."""

RawStanding = tuple[tuple[int, ...], Place | None]
"""Raw scores, in the order of `Scoring.compared`, and where soft spread constraints count the
node.
"""


class TooMany(Exception):
    """Bytes do not suffice for the scores or the standings of a cluster."""


class _Told:
    """What nodes on which the same is taken say to each kind: a placement's raw scores, or why
    there is none.

    `why` has a byte for each kind, 0 with a placement; `by_load` what nodes say for their amounts
    too (see `says`).
    """

    __slots__ = ("by_load", "verdicts", "why")

    def __init__(self, kinds: int) -> None:
        self.verdicts: dict[int, int | tuple[int, ...]] = {}
        self.why = bytearray([UNASKED]) * kinds
        self.by_load: dict[NodeLoad, bytearray] = {}


class Weighing:
    """What loads and devices say to every kind, remembered from one order of arrival to the
    next.
    """

    def __init__(
        self, kinds: Sequence[PodKind], rules: Sequence[PodRules], stages: Stages, scoring: Scoring
    ) -> None:
        self.kinds, self.scoring = kinds, scoring
        self.standings = [
            NodeStandings(kind, own, scoring) for kind, own in zip(kinds, rules, strict=True)
        ]
        self._stages = stages
        self.highest = 0  # score for amounts
        self._wishes = WishesByAmounts(scoring)
        self._told: dict[NodeHoldings, _Told] = {}
        self._by_template: dict[Template, tuple[tuple[int, ...], list[Wishes]]] = {}

    def says(self, stage: NodeStage) -> bytearray:
        """Return twice by kind the score of a node for its amounts, or why it takes no such pod."""
        told = self._told.get(stage.taken)
        if told is None:
            told = self._told[stage.taken] = _Told(len(self.kinds))
        found = told.by_load.get(stage.load)
        if found is None:
            found = told.by_load[stage.load] = self._says(stage, told)
        return found

    def verdict(self, stage: NodeStage, kind: PodKind) -> int | tuple[int, ...]:
        """Return what a node says of devices for a pod of a kind whose amounts suffice there."""
        told = self._told[stage.taken]
        verdict = told.verdicts.get(kind.number)
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
            told.verdicts[kind.number] = verdict
            told.why[kind.number] = verdict if isinstance(verdict, int) else 0
            at = 2 * kind.number
            for load, says in told.by_load.items():
                if says[at] == UNASKED:
                    says[at] = says[at + 1] = (
                        verdict if isinstance(verdict, int) else self._score(stage, kind, load)
                    )
        return verdict

    def _score(self, stage: NodeStage, kind: PodKind, load: NodeLoad) -> int:
        whose, wishes = self._by_template[stage.template]
        return wishes[whose[kind.number] - 1].score(load)

    def _says(self, stage: NodeStage, told: _Told) -> bytearray:
        whose, wishes = self._by_template.get(stage.template) or self._open(stage.template)
        load = stage.load
        scores = [-1, *[each.score(load) for each in wishes]]
        self.highest = max(self.highest, *scores)
        if self.highest > MOST:
            raise TooMany
        says = [NO_ROOM if score < 0 else score for score in scores]
        by_kind = bytes(map(says.__getitem__, whose))
        if any(told.why):
            by_kind = bytes(map(max, by_kind, told.why))
        twice = bytearray(2 * len(by_kind))
        twice[::2] = twice[1::2] = by_kind
        return twice

    def _open(self, template: Template) -> tuple[tuple[int, ...], list[Wishes]]:
        """Return the different wishes of all kinds, and whose they are: 1 is the first of them, 0
        none at all.
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
    """Gives numbers to the standings of nodes with one kind, from 0 on."""

    def __init__(self, kind: PodKind, rules: PodRules, scoring: Scoring) -> None:
        self.all: list[RawStanding] = []
        self.compares = False  # whether some node has a raw score
        self.rules = rules
        self.has_ranks = bool(scoring.by_placement) and _has_alternatives(kind)
        self._kind, self._scoring = kind, scoring
        self._numbers: dict[RawStanding, int] = {}
        self._by_template: dict[
            Template, tuple[tuple[int, ...], tuple[LabelledPlace, ...] | None]
        ] = {}

    def number(self, stage: NodeStage, ranks: tuple[int, ...]) -> int:
        """Return the number of the standing of a stage; `ranks` are the raw scores of the placement
        there.
        """
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
