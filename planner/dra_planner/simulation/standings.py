"""What scores of one kind of pods are made of, stage by stage: many stages score the same, and are compared once."""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_planner.allocation import Refusal
from dra_planner.allocation.template import Template
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.rules import Rules
from dra_planner.simulation.stages import Stage, Stages
from dra_planner.simulation.surroundings import LabelledPlace, Place, labelled_places

NO_ROOM: Final = -1
"""The number of stages that turn pods of the kind down."""
ENDS_ALL: Final = -2
"""The number of stages that end an attempt on all nodes."""


class Standing(NamedTuple):
    """The scores of a stage as `StageAnswer` has them, and where soft spread constraints count its nodes."""

    fixed: int
    taints: int
    preferred_nodes: int
    alternatives: int
    compares: bool
    place: Place | None


class Standings(dict[Stage, int]):
    """The number of the standing that each stage has, found when it is first asked for; `all` are the standings.

    Rules that turn nodes down and shared claims are left aside, as by `Stages.ask`.
    """

    def __init__(self, kind: PodKind, rules: Rules, stages: Stages) -> None:
        super().__init__()
        self.all: list[Standing] = []
        self._kind, self._rules, self._stages = kind, rules, stages
        self._numbers: dict[tuple[int | Place | None, ...], int] = {}
        self._places: dict[Template, tuple[LabelledPlace, ...] | None] = {}

    def __missing__(self, stage: Stage) -> int:
        said = stage.answers.get(self._kind.number) or self._stages.ask(stage, self._kind)
        if not said.fits:
            is_error = isinstance(said.verdict, Refusal) and said.verdict.kind == "error"
            self[stage] = number = ENDS_ALL if is_error else NO_ROOM
            return number
        place = self._place_of(stage) if self._rules.soft_spread else None
        parts = said.fixed, said.taints, said.preferred_nodes, said.alternatives, place
        found = self._numbers.get(parts)
        if found is None:
            found = self._numbers[parts] = len(self.all)
            self.all.append(Standing(*parts[:4], said.compares, place))
        self[stage] = found
        return found

    def _place_of(self, stage: Stage) -> Place | None:
        template = stage.state.template
        try:
            known = self._places[template]
        except KeyError:
            known = self._places[template] = labelled_places(self._rules, template.node)
        if known is None:
            return None
        return tuple([value if kinds is None else stage.count(kinds) for value, kinds in known])
