"""The score components of each stage for one kind of pods. Many stages have the same components,
and are compared once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_planner.allocation import Placement, Refusal
from dra_planner.allocation.node.template import Template
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeHoldings, NodeStage, Stages
from dra_planner.simulation.plugins.plugin import LabelledPlace, Place
from dra_planner.simulation.scheduler.amount_scores import Wishes, WishesByAmounts
from dra_planner.simulation.scheduler.pod_rules import PodRules

NO_ROOM: Final = -1
"""The number for stages that reject pods of the kind."""
ENDS_ALL: Final = -2
"""The number for stages that end an attempt on all nodes with an error."""


class StageStanding(NamedTuple):
    """A standing: the scores of a stage, and the places where soft spread constraints count its
    nodes.

    `fixed` is final. `raw` scores, in the order of `Scoring.compared`, become final in comparison
    with other nodes. `compares` is True if some raw score isn't 0.
    """

    fixed: int
    raw: tuple[int, ...]
    compares: bool
    place: Place | None


class _CachedAnswers:
    """The answers of stages with equal holdings.

    `raw` are the scores that don't depend on amounts. They are known if there is a placement.
    `rank` is NO_ROOM, ENDS_ALL, or 0 with a placement. `hosts` are the kinds that are counted on
    the nodes themselves, and `only` is the one kind that most pods count, such as the pods of their
    own Deployment. `numbers` are the numbers of standings, by the score for amounts and these
    counts. These keys are sufficient if only pods of `only`, or no pods, are counted. In this case,
    `ready` is True once there is a placement.
    """

    __slots__ = ("hosts", "numbers", "only", "places", "rank", "raw", "ready", "wishes")

    def __init__(
        self, wishes: Wishes, places: tuple[LabelledPlace, ...] | None, raw: tuple[int, ...]
    ) -> None:
        self.wishes = wishes
        self.places = places
        self.rank: int | None = None
        self.raw = raw
        self.ready = False
        self.hosts = tuple([kinds for _, kinds in places or () if kinds is not None])
        alone = self.hosts[0] if len(self.hosts) == 1 and len(self.hosts[0]) == 1 else ()
        self.only: int = next(iter(alone), -1)
        self.numbers: dict[tuple[int, ...], int] = {}

    def like(self) -> _CachedAnswers:
        """Return answers for nodes with the same template and other holdings, with the known raw
        scores.
        """
        return _CachedAnswers(self.wishes, self.places, self.raw)


class Standings(dict[NodeStage, int]):
    """The number of each stage's standing, which is computed on first use. `all` are the standings.

    As in `Stages.ask`, rules that reject nodes and shared claims aren't considered.
    """

    def __init__(
        self, kind: PodKind, rules: PodRules, stages: Stages, wishes: WishesByAmounts
    ) -> None:
        super().__init__()
        self.all: list[StageStanding] = []
        self._cached: dict[NodeHoldings, _CachedAnswers] = {}
        self._kind, self._rules, self._stages, self._wishes = kind, rules, stages, wishes
        self._numbers: dict[StageStanding, int] = {}
        self._by_template: dict[Template, _CachedAnswers] = {}

    def __missing__(self, stage: NodeStage) -> int:
        number = self[stage] = self._find(stage)
        return number

    def _find(self, stage: NodeStage) -> int:
        cached = self._cached.get(stage.taken) or self._cache(stage)
        score = cached.wishes.score(stage.load)
        if score < 0:
            return NO_ROOM
        rank = cached.rank
        if rank is None:
            rank = cached.rank = self._rank(stage, cached)
        if rank < 0:
            return rank
        parts = (
            (score, stage.pods.get(cached.only, 0))
            if cached.ready
            else (score, *map(stage.count, cached.hosts))
        )
        number = cached.numbers.get(parts)
        if number is None:
            number = cached.numbers[parts] = self._number(cached, score, stage)
        return number

    def _number(self, cached: _CachedAnswers, score: int, stage: NodeStage) -> int:
        place = None
        if cached.places is not None:
            place = tuple(
                [value if kinds is None else stage.count(kinds) for value, kinds in cached.places]
            )
        standing = StageStanding(score, cached.raw, any(cached.raw), place)
        found = self._numbers.get(standing)
        if found is None:
            found = self._numbers[standing] = len(self.all)
            self.all.append(standing)
        return found

    def _cache(self, stage: NodeStage) -> _CachedAnswers:
        template, scoring = stage.template, self._wishes.scoring
        like = self._by_template.get(template)
        if like is None:
            domains = scoring.domains if self._rules.soft_spread else None
            places = domains.places(self._rules, template.node) if domains is not None else None
            raw = tuple([score(self._kind, template.node) for score in scoring.by_node])
            like = self._by_template[template] = _CachedAnswers(
                self._wishes.of(self._kind, template), places, raw
            )
        found = self._cached[stage.taken] = like.like()
        return found

    def _rank(self, stage: NodeStage, cached: _CachedAnswers) -> int:
        verdict = self._stages.ask(stage, self._kind)
        if isinstance(verdict, Placement):
            cached.raw += tuple([score(verdict) for score in self._wishes.scoring.by_placement])
            cached.ready = cached.only >= 0 or not cached.hosts
            return 0
        return ENDS_ALL if isinstance(verdict, Refusal) and verdict.kind == "error" else NO_ROOM
