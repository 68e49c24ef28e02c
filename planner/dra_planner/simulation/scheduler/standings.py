"""What scores of one kind of pods are made of, stage by stage: many stages score the same, and are compared once."""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_planner.allocation import Placement, Refusal
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.place import needs_of
from dra_planner.simulation.cluster.kinds import PodKind
from dra_planner.simulation.cluster.stages import Load, Stage, Stages, Taken
from dra_planner.simulation.plugins.plugin import LabelledPlace, Place
from dra_planner.simulation.scheduler.rules import Rules
from dra_planner.simulation.scheduler.scoring import Scoring

NO_ROOM: Final = -1
"""The number of stages that turn pods of the kind down."""
ENDS_ALL: Final = -2
"""The number of stages that end an attempt on all nodes."""


class Wishes:
    """The wishes of a kind on nodes of the template of a stage; `raw` are what plugins make of such a node, in the
    order of `Scoring.by_node`.
    """

    __slots__ = ("_requests", "_scorers", "raw")

    def __init__(self, kind: PodKind, stage: Stage, scoring: Scoring) -> None:
        assert kind.shape is not None  # pods that were there before are placed by nobody
        node, template = stage.node, stage.state.template
        self.raw = tuple([score(kind, node) for score in scoring.by_node])
        self._scorers = scoring.load_scorers(kind, node, template.features)
        self._requests = tuple(needs_of(kind.shape, template).requests.items())

    def score(self, load: Load) -> int:
        """Return the score that a node gets for its amounts, whatever others there are, and keep it with the load.

        Below 0: what is left does not suffice, as `reject_for_now` has it.
        """
        found = load.scores[self] = self._score(load)
        return found

    def _score(self, load: Load) -> int:
        free = load.free
        for name, amount in self._requests:
            if amount > free.get(name, 0):
                return -1
        return sum([weight * score(load) for weight, score in self._scorers])


class Standing(NamedTuple):
    """The scores of a stage, and where soft spread constraints count its nodes.

    `fixed` is final; the `raw` ones become scores in comparison with other nodes, where they are not all 0: `compares`
    says so. They are in the order of `Scoring.compared`.
    """

    fixed: int
    raw: tuple[int, ...]
    compares: bool
    place: Place | None


class _Told:
    """What stages say that have the same taken. `raw` are the scores of the placement, known once amounts suffice and
    there is one; `rank` is NO_ROOM, ENDS_ALL, or 0 with a placement.

    `hosts` are the kinds that are counted on the nodes themselves, `only` the one kind that most such pods count, as
    pods of a Deployment do theirs. `numbers` are those of standings, by the score for amounts and these counts.
    """

    __slots__ = ("hosts", "numbers", "only", "places", "rank", "raw", "wishes")

    def __init__(self, wishes: Wishes, places: tuple[LabelledPlace, ...] | None) -> None:
        self.wishes = wishes
        self.places = places
        self.rank: int | None = None
        self.raw: tuple[int, ...] = ()
        self.hosts = tuple([kinds for _, kinds in places or () if kinds is not None])
        alone = self.hosts[0] if len(self.hosts) == 1 and len(self.hosts[0]) == 1 else ()
        self.only: int | None = next(iter(alone), None)
        self.numbers: dict[tuple[int, ...], int] = {}


class Standings(dict[Stage, int]):
    """The number of the standing that each stage has, found when it is first asked for; `all` are the standings.

    Rules that turn nodes down and shared claims are left aside, as by `Stages.ask`.
    """

    def __init__(self, kind: PodKind, rules: Rules, stages: Stages, scoring: Scoring) -> None:
        super().__init__()
        self.all: list[Standing] = []
        self._kind, self._rules, self._stages, self._scoring = kind, rules, stages, scoring
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
            rank = told.rank = self._rank(stage, told)
        if rank < 0:
            self[stage] = rank
            return rank
        only = told.only
        parts = (score, *map(stage.count, told.hosts)) if only is None else (score, stage.pods.get(only, 0))
        number = told.numbers.get(parts)
        if number is None:
            number = told.numbers[parts] = self._number(told, score, stage)
        self[stage] = number
        return number

    def _number(self, told: _Told, score: int, stage: Stage) -> int:
        raw, place = (*told.wishes.raw, *told.raw), None
        if told.places is not None:
            place = tuple([value if kinds is None else stage.count(kinds) for value, kinds in told.places])
        standing = Standing(score, raw, any(raw), place)
        found = self._numbers.get(standing)
        if found is None:
            found = self._numbers[standing] = len(self.all)
            self.all.append(standing)
        return found

    def _tell(self, stage: Stage) -> _Told:
        template = stage.state.template
        like = self._by_template.get(template)
        if like is None:
            domains = self._scoring.domains
            places = domains.places(self._rules, template.node) if domains and self._rules.soft_spread else None
            like = self._by_template[template] = _Told(Wishes(self._kind, stage, self._scoring), places)
        found = self._told[stage.taken] = _Told(like.wishes, like.places)
        return found

    def _rank(self, stage: Stage, told: _Told) -> int:
        verdict = self._stages.ask(stage, self._kind)
        if isinstance(verdict, Placement):
            told.raw = tuple([score(verdict) for score in self._scoring.by_placement])
            return 0
        return ENDS_ALL if isinstance(verdict, Refusal) and verdict.kind == "error" else NO_ROOM
