"""What scores of one kind of pods are made of, stage by stage: many stages score the same, and are compared once."""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_planner.allocation import Placement, Refusal
from dra_planner.allocation.node_selectors import term_matches, tolerates
from dra_planner.allocation.place import needs_of
from dra_planner.allocation.template import Template
from dra_planner.model import Node, PodSpec
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.profile import Profile
from dra_planner.simulation.rules import Rules
from dra_planner.simulation.scores import Pair, balance_score, evenness, fit_score
from dra_planner.simulation.stages import Load, Stage, Stages, Taken
from dra_planner.simulation.surroundings import LabelledPlace, Place, labelled_places

NO_ROOM: Final = -1
"""The number of stages that turn pods of the kind down."""
ENDS_ALL: Final = -2
"""The number of stages that end an attempt on all nodes."""


class Wishes:
    """The wishes of a kind on nodes of the template of a stage; `taints` and `preferred_nodes` are raw scores."""

    __slots__ = (
        "_allocatable", "_by_change", "_profile", "_requested", "_requests", "_scored", "preferred_nodes",
        "taints",
    )  # fmt: skip

    def __init__(self, kind: PodKind, stage: Stage, profile: Profile) -> None:
        assert kind.shape is not None  # pods that were there before are placed by nobody
        node, template = stage.node, stage.state.template
        self.taints = _unwelcome_taints(kind.spec, node)
        self.preferred_nodes = _preference(kind.spec, node)
        self._allocatable: Pair = node.allocatable.get("cpu", 0), node.allocatable.get("memory", 0)
        self._by_change = template.features.scores_balance_change
        self._scored = kind.scored
        self._requested = None if kind.is_best_effort else kind.requested
        self._profile = profile
        self._requests = tuple(needs_of(kind.shape, template).requests.items())

    def score(self, load: Load) -> int:
        """Return the score that a node gets for its amounts, whatever others there are, and keep it with the load.

        Below 0: what is left does not suffice, as `reject_for_now` has it.
        """
        found = load.scores[self] = self._score(load)
        return found

    def _score(self, load: Load) -> int:
        profile, have, free = self._profile, self._allocatable, load.free
        for name, amount in self._requests:
            if amount > free.get(name, 0):
                return -1
        cpu, memory = load.scored
        more_cpu, more_memory = self._scored
        total = profile.fit * fit_score((cpu + more_cpu, memory + more_memory), have, profile)
        if self._requested is None:
            return total
        cpu, memory = load.used
        more_cpu, more_memory = self._requested
        after = evenness((cpu + more_cpu, memory + more_memory), have)
        return total + profile.balance * balance_score(load.evenness if self._by_change else None, after)


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

    `hosts` are the kinds that are counted on the nodes themselves, `only` the one kind that most such pods count, as
    pods of a Deployment do theirs. `numbers` are those of standings, by the score for amounts and these counts.
    """

    __slots__ = ("hosts", "numbers", "only", "places", "rank", "wishes")

    def __init__(self, wishes: Wishes, places: tuple[LabelledPlace, ...] | None) -> None:
        self.wishes = wishes
        self.places = places
        self.rank: int | None = None
        self.hosts = tuple([kinds for _, kinds in places or () if kinds is not None])
        alone = self.hosts[0] if len(self.hosts) == 1 and len(self.hosts[0]) == 1 else ()
        self.only: int | None = next(iter(alone), None)
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
        only = told.only
        parts = (score, *map(stage.count, told.hosts)) if only is None else (score, stage.pods.get(only, 0))
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


def _unwelcome_taints(spec: PodSpec, node: Node) -> int:
    """Count the PreferNoSchedule taints that no toleration for that effect (or for every effect) covers."""
    tolerations = [each for each in spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(each, taint) for each in tolerations)
        for taint in node.taints
    )


def _preference(spec: PodSpec, node: Node) -> int:
    return sum(each.weight for each in spec.preferred_nodes if term_matches(each.term, node))
