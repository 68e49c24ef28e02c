"""One scheduling attempt: the nodes that accept a pod, their scores, and the chosen node.

Source of the behavior: kubernetes/kubernetes:pkg/scheduler/schedule_one.go @v1.36.3.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct, field

from dra_planner.allocation import Answer, Placement, Refusal, Undecided
from dra_planner.simulation.cluster.cluster import Cluster, SimulatedPod
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeStage, Population
from dra_planner.simulation.plugins import PLUGINS
from dra_planner.simulation.plugins.plugin import ClusterView, Reject
from dra_planner.simulation.scheduler.node_columns import Columns
from dra_planner.simulation.scheduler.node_sampling import ALL_BELOW, Window, look_around
from dra_planner.simulation.scheduler.pod_rules import PodRules
from dra_planner.simulation.scheduler.score_cache import TooMany, Weighing
from dra_planner.simulation.scheduler.scoring import Scoring, add_scores
from dra_planner.simulation.scheduler.stage_scores import Standings

_STEPS_OF_AN_ATTEMPT = 5
_NODES_OF_A_STEP = 16  # number of nodes that count as one step in a large cluster
_FILTERS = [each.filter for each in PLUGINS if each.filter is not None]
_NEEDS = [each.is_needed for each in PLUGINS if each.is_needed is not None]


class Rejection(Struct, frozen=True):
    """The reason why nodes reject a pod.

    `node` is the first of these nodes, and `nodes` is their number.
    """

    verdict: Refusal | Undecided
    node: int
    nodes: int


class Choice(Struct, frozen=True):
    """The chosen node of a pod, and its placement there."""

    node: int
    placement: Placement


class SchedulingFailure(Struct, frozen=True):
    """No node accepts the pod. `error` is the error that ended the attempt on all nodes."""

    rejections: tuple[Rejection, ...]
    error: Refusal | None = None

    @property
    def is_undecided(self) -> bool:
        """True if it's unknown whether some node accepts the pod."""
        return self.error is None and any(
            isinstance(each.verdict, Undecided) for each in self.rejections
        )


class Scheduler(Struct):
    """Chooses nodes. A seed breaks ties. Without a seed, the first node is chosen.

    `steps` counts the work: some steps for each attempt, and one for each stage that was compared
    with the pod, or for some nodes of a large cluster.
    """

    cluster: Cluster
    rules: Sequence[PodRules]
    scoring: Scoring
    standings: Sequence[Standings]  # by the kind's number
    weighing: Weighing
    seed: int | None = None
    steps: int = 0
    _rng: random.Random = field(default_factory=random.Random)
    _begin: int = 0  # number of the node at which the next search begins
    _columns: Columns | None = None
    _is_too_large: bool = False  # too large for columns
    # by the kind's number: whether only pods on the same node matter, apart from spreading
    _is_alone: list[bool] = field(default_factory=list)
    # by the kind's number: scores that pods don't change
    _final: dict[int, dict[NodeStage, Placement]] = {}
    _final_refusals: dict[int, dict[NodeStage, Refusal | Undecided]] = {}

    def __post_init__(self) -> None:
        self._rng.seed(self.seed)
        self._is_alone = [not needs_cluster(each) and self._is_near(each) for each in self.rules]

    def attempt(self, pod: SimulatedPod) -> Choice | SchedulingFailure:
        """Return the node that the pod would currently get, without changing the cluster."""
        kind, cluster = pod.kind, self.cluster
        rules = self.rules[kind.number]
        if pod.only_node is None and self._is_judged_alone(kind):
            choice = self._choose(kind)
            if choice is not None:
                return choice
        window = self._look(pod, needs_cluster(rules))
        self.steps += _STEPS_OF_AN_ATTEMPT + len(window.feasible) + len(window.refused)
        error = window.error
        if error is not None or not window.feasible:
            return SchedulingFailure(tuple(self._rejections(pod, window)), error)
        best = self._best(kind, rules, window)
        node = pod.only_node if pod.only_node is not None else self._pick(best, window)
        return Choice(node, window.answers[cluster.stage_of[node]])

    def _is_near(self, rules: PodRules) -> bool:
        population = self.scoring.population
        return not rules.preferred or (population is not None and population.is_near(rules))

    def _is_judged_alone(self, kind: PodKind) -> bool:
        """Return True if the answers of nodes don't depend on pods on other nodes, except for
        spreading.
        """
        is_apart = self._is_too_large or self.cluster.claims
        return not is_apart and self._is_alone[kind.number]

    def _choose(self, kind: PodKind) -> Choice | None:
        """Return the choice from the cached answers of nodes and the new answers of changed nodes,
        or None if there are no cached answers.
        """
        cluster = self.cluster
        try:
            if self._columns is None:
                self._columns = Columns(self.weighing, cluster)
            view = self._columns.look_around(kind, self._begin)
        except TooMany:
            self._is_too_large = True
            return None
        if view is None:
            return None
        self._begin = (self._begin + view.nodes) % len(cluster.stage_of)
        stages = len(cluster.nodes_in)
        self.steps += _STEPS_OF_AN_ATTEMPT + (
            stages if len(cluster.stage_of) < ALL_BELOW else view.nodes // _NODES_OF_A_STEP
        )
        node = view.choose(None if self.seed is None else self._rng)
        placement = cluster.stages.ask(cluster.stage_of[node], kind)
        assert isinstance(placement, Placement)  # the node accepts the pod
        return Choice(node, placement)

    def judge(self, kind: PodKind, stage: NodeStage, population: Population) -> Answer:
        """Return the answer of a stage to a pod of the kind, with the nodes of `population`."""
        return self._judge(kind, stage, self._filters(kind, population))

    def _filters(self, kind: PodKind, population: Population) -> list[Reject]:
        """Return the filters of a kind that look at several nodes, prepared for the
        current nodes.
        """
        view, rules = ClusterView(population, self.cluster.claims), self.rules[kind.number]
        return [reject for make in _FILTERS if (reject := make(kind, rules, view)) is not None]

    def _look(self, pod: SimulatedPod, needs_others: bool) -> Window:
        stage_of, kind = self.cluster.stage_of, pod.kind
        is_final = not needs_others and not self.cluster.claims
        answers = self._final.setdefault(kind.number, {}) if is_final else {}
        refusals = self._final_refusals.setdefault(kind.number, {}) if is_final else {}
        filters = [] if is_final else self._filters(kind, self.cluster.population)

        def judge(stage: NodeStage) -> Answer:
            return self._judge(kind, stage, filters)

        if pod.only_node is not None:
            window = Window(stage_of, pod.only_node, 1, answers=answers, refusals=refusals)
            window.look({stage_of[pod.only_node]: 1}, judge)
            return window
        if len(stage_of) < ALL_BELOW:
            window = Window(stage_of, 0, len(stage_of), answers=answers, refusals=refusals)
            window.look(
                {stage: len(nodes) for stage, nodes in self.cluster.nodes_in.items()}, judge
            )
            return window
        window = look_around(stage_of, self._begin, judge, answers, refusals)
        self._begin = (self._begin + window.seen) % len(stage_of)
        return window

    def _judge(self, kind: PodKind, stage: NodeStage, filters: Iterable[Reject]) -> Answer:
        answer = self.cluster.stages.ask(stage, kind)
        if isinstance(answer, Refusal) and answer.kind == "filter":
            return answer
        for reject in filters:
            refusal = reject(stage, answer)
            if refusal is not None:
                return refusal
        return answer

    def _best(self, kind: PodKind, rules: PodRules, window: Window) -> list[NodeStage]:
        """Return the stages with the highest score."""
        feasible = window.feasible
        if len(feasible) == 1:
            return list(feasible)
        numbers = list(map(self.standings[kind.number].__getitem__, feasible))
        nodes: dict[int, int] = {}
        for number, count in zip(numbers, feasible.values(), strict=True):
            nodes[number] = nodes.get(number, 0) + count
        present = list(nodes)

        def count_all_but(some: Collection[int]) -> int:
            return sum(nodes.values()) - sum([nodes[each] for each in some])

        totals = dict(zip(present, self._totals(kind, rules, present, count_all_but), strict=True))
        if rules.preferred:
            sums = [totals[number] for number in numbers]
            population = self.scoring.population
            if population is not None:
                scores = population.score(rules, self.cluster.population, feasible)
                add_scores(sums, self.scoring.population_weight, scores)
            most = max(sums)
            return [stage for stage, total in zip(feasible, sums, strict=True) if total == most]
        most = max(totals.values())
        best = {number for number, total in totals.items() if total == most}
        return [stage for stage, number in zip(feasible, numbers, strict=True) if number in best]

    def _totals(
        self,
        kind: PodKind,
        rules: PodRules,
        present: Sequence[int],
        count_all_but: Callable[[Collection[int]], int],
    ) -> list[int]:
        """Return the total score of each standing of feasible nodes, without the score for other
        pods. `present` are the numbers of these standings. `count_all_but` returns the number of
        nodes that have none of the given standings.
        """
        known, scoring = (
            list(map(self.standings[kind.number].all.__getitem__, present)),
            self.scoring,
        )
        totals = [each.fixed for each in known]
        if True in [each.compares for each in known]:
            add_scores(totals, 1, scoring.compare([each.raw for each in known]))
        if rules.soft_spread and scoring.domains is not None:
            places = [each.place for each in known]
            unplaced = [
                number for number, place in zip(present, places, strict=True) if place is None
            ]
            nodes = count_all_but(unplaced)
            scores = scoring.domains.score(rules, self.cluster.census.of(kind), nodes, places)
            add_scores(totals, scoring.domain_weight, scores)
        return totals

    def one_of(self, choices: int) -> int:
        """Return the index of one of this number of equal choices: the first, or a random one by
        the seed.
        """
        return 0 if self.seed is None else self._rng.randrange(choices)

    def _pick(self, best: Sequence[NodeStage], window: Window) -> int:
        """Return one of the nodes of these stages: the first, or a random one by the seed."""
        if self.seed is None:
            return min((window.node(stage, 0) for stage in best), key=window.distance)
        ends = list(accumulate(map(window.feasible.__getitem__, best)))
        number = self._rng.randrange(ends[-1])
        at = bisect_right(ends, number)
        return window.node(best[at], number - ends[at - 1] if at else number)

    def _rejections(self, pod: SimulatedPod, window: Window) -> Iterator[Rejection]:
        for stage, verdict in window.refused.items():
            nodes = self.cluster.nodes_in[stage] if pod.only_node is None else [pod.only_node]
            yield Rejection(verdict, min(nodes), len(nodes))


def needs_cluster(rules: PodRules) -> bool:
    """Return True if a filter compares nodes with others for pods with these rules."""
    return any(is_needed(rules) for is_needed in _NEEDS)
