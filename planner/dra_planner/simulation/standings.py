"""What scores of one kind of pods are made of, stage by stage: many stages score the same, and are compared once."""

from __future__ import annotations

from typing import NamedTuple

from dra_planner.allocation.template import Template
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.rules import Rules
from dra_planner.simulation.stages import Stage, Stages
from dra_planner.simulation.surroundings import LabelledPlace, Place, labelled_places


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

    Stages that take no pod of the kind have none: they must not be asked for.
    """

    def __init__(self, kind: PodKind, rules: Rules, stages: Stages) -> None:
        super().__init__()
        self.all: list[Standing] = []
        self._kind, self._rules, self._stages = kind, rules, stages
        self._numbers: dict[Standing, int] = {}
        self._places: dict[Template, tuple[LabelledPlace, ...] | None] = {}

    def __missing__(self, stage: Stage) -> int:
        said = self._stages.ask(stage, self._kind)
        place = self._place_of(stage) if self._rules.soft_spread else None
        standing = Standing(said.fixed, said.taints, said.preferred_nodes, said.alternatives, said.compares, place)
        number = self[stage] = self._numbers.setdefault(standing, len(self.all))
        if number == len(self.all):
            self.all.append(standing)
        return number

    def _place_of(self, stage: Stage) -> Place | None:
        template = stage.state.template
        if template not in self._places:
            self._places[template] = labelled_places(self._rules, template.node)
        known = self._places[template]
        if known is None:
            return None
        return tuple(value if kinds is None else stage.count(kinds) for value, kinds in known)
