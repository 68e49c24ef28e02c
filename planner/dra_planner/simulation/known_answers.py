"""The data that simulations of one demand on different nodes share: opened nodes, kinds of pods,
and the cached answers of nodes to them.

Simulations with different counts contain mostly the same nodes, so each state of a node is
evaluated once for all simulations.
"""

from __future__ import annotations

from msgspec import Struct, field

from dra_planner.allocation import NodeState
from dra_planner.allocation.node.pod_rules import Namespaces
from dra_planner.simulation.cluster.pod_kinds import Kinds
from dra_planner.simulation.cluster.stages import Stages
from dra_planner.simulation.scheduler.amount_scores import WishesByAmounts
from dra_planner.simulation.scheduler.pod_rules import PodRules, compile_rules
from dra_planner.simulation.scheduler.profile import Profile
from dra_planner.simulation.scheduler.score_cache import Weighing
from dra_planner.simulation.scheduler.scoring import Scoring
from dra_planner.simulation.scheduler.stage_scores import Standings


class NodeAnswers(Struct, frozen=True, kw_only=True):
    """The rules of all kinds of pods, and the cached answers of nodes to them.

    `standings` are ordered by the kind's number.
    """

    rules: tuple[PodRules, ...]
    scoring: Scoring
    stages: Stages
    standings: tuple[Standings, ...]
    weighing: Weighing

    @classmethod
    def of(
        cls, kinds: Kinds, namespaces: Namespaces, profile: Profile, place_budget: int
    ) -> NodeAnswers:
        """Return answers for these kinds, with empty caches."""
        scoring = Scoring(profile)
        wishes = WishesByAmounts(scoring)
        rules = compile_rules(kinds.all, namespaces)
        noticed = frozenset[int]().union(*(each.noticed for each in rules))
        stages = Stages([kind.number in noticed for kind in kinds.all], place_budget)
        return cls(
            rules=rules,
            scoring=scoring,
            stages=stages,
            standings=tuple(
                Standings(*each, stages, wishes) for each in zip(kinds.all, rules, strict=True)
            ),
            weighing=Weighing(tuple(kinds.all), rules, stages, scoring),
        )


class KnownAnswers(Struct):
    """Opened nodes by the identity of their offer, and kinds of pods with the answers to them, for
    one demand and one profile.
    """

    states: dict[int, NodeState] = {}
    kinds: Kinds = field(default_factory=Kinds)
    _answers: NodeAnswers | None = None

    def answers(self, namespaces: Namespaces, profile: Profile, place_budget: int) -> NodeAnswers:
        """Return the answers to all kinds so far.

        If there are new kinds (of pods that are already on other nodes), the caches are empty,
        because rules can refer to these kinds.
        """
        if self._answers is None or len(self._answers.rules) < len(self.kinds.all):
            self._answers = NodeAnswers.of(self.kinds, namespaces, profile, place_budget)
        return self._answers
