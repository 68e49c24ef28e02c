"""What scores of one kind of pods are made of, stage by stage: many stages score the same, and are compared once."""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_planner.allocation import Placement, Refusal
from dra_planner.allocation.template import Template
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.rules import Rules
from dra_planner.simulation.stages import Stage, Stages, Taken
from dra_planner.simulation.surroundings import LabelledPlace, Place, labelled_places
from dra_planner.simulation.wishes import Wishes

NO_ROOM: Final = -1
"""The number of stages that turn pods of the kind down."""
ENDS_ALL: Final = -2
"""The number of stages that end an attempt on all nodes."""


class Standing(NamedTuple):
    """The scores of a stage, and where soft spread constraints count its nodes.

    `fixed` is final; the others are raw and become scores in comparison with other nodes, where they are not all 0:
    `compares` says so.
    """

    fixed: int
    taints: int
    preferred_nodes: int
    alternatives: int
    compares: bool
    place: Place | None


class _Told:
    """What stages say that have the same taken. `rank` is known once amounts suffice: NO_ROOM, ENDS_ALL, or from 0 on.

    `hosts` are the kinds that are counted on the nodes themselves. `numbers` are those of standings, by the score for
    amounts and these counts.
    """

    __slots__ = ("hosts", "numbers", "places", "rank", "wishes")

    def __init__(self, wishes: Wishes, places: tuple[LabelledPlace, ...] | None) -> None:
        self.wishes = wishes
        self.places = places
        self.rank: int | None = None
        self.hosts = tuple([kinds for _, kinds in places or () if kinds is not None])
        self.numbers: dict[tuple[int, ...], int] = {}


class Standings(dict[Stage, int]):
    """The number of the standing that each stage has, found when it is first asked for; `all` are the standings.

    Rules that turn nodes down and shared claims are left aside, as by `Stages.ask`.
    """

    def __init__(self, kind: PodKind, rules: Rules, stages: Stages) -> None:
        super().__init__()
        self.all: list[Standing] = []
        self._kind, self._rules, self._stages = kind, rules, stages
        self._numbers: dict[Standing, int] = {}
        self._told: dict[Taken, _Told] = {}
        self._by_template: dict[Template, _Told] = {}

    def __missing__(self, stage: Stage) -> int:
        told = self._told.get(stage.taken) or self._tell(stage)
        load = stage.load
        score = load.scores.get(told.wishes)
        if score is None:
            score = told.wishes.score(load)
        rank = told.rank
        if score < 0:
            rank = NO_ROOM
        elif rank is None:
            rank = told.rank = self._rank(stage)
        if rank < 0:
            self[stage] = rank
            return rank
        parts = score, *map(stage.count, told.hosts)
        number = told.numbers.get(parts)
        if number is None:
            number = told.numbers[parts] = self._number(told, score, rank, stage)
        self[stage] = number
        return number

    def _number(self, told: _Told, score: int, rank: int, stage: Stage) -> int:
        raw, place = (told.wishes.taints, told.wishes.preferred_nodes, rank), None
        if told.places is not None:
            place = tuple([value if kinds is None else stage.count(kinds) for value, kinds in told.places])
        standing = Standing(score, *raw, any(raw), place)
        found = self._numbers.get(standing)
        if found is None:
            found = self._numbers[standing] = len(self.all)
            self.all.append(standing)
        return found

    def _tell(self, stage: Stage) -> _Told:
        template = stage.state.template
        like = self._by_template.get(template)
        if like is None:
            places = labelled_places(self._rules, template.node) if self._rules.soft_spread else None
            like = self._by_template[template] = _Told(Wishes(self._kind, stage, self._stages.profile), places)
        found = self._told[stage.taken] = _Told(like.wishes, like.places)
        return found

    def _rank(self, stage: Stage) -> int:
        verdict = self._stages.ask(stage, self._kind)
        if isinstance(verdict, Placement):
            return verdict.rank
        return ENDS_ALL if isinstance(verdict, Refusal) and verdict.kind == "error" else NO_ROOM
