"""One attempt of the scheduler: the nodes that take a pod, their scores, and the one that it goes to.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/schedule_one.go @v1.36.3.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from dra_planner.allocation import Answer, Placement, Refusal, Undecided
from dra_planner.simulation.claims import refuse_claims
from dra_planner.simulation.cluster import Cluster, SimulatedPod
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.rows import Row
from dra_planner.simulation.rules import Rules
from dra_planner.simulation.scores import MAX_SCORE
from dra_planner.simulation.stages import Stage
from dra_planner.simulation.standings import Standings
from dra_planner.simulation.surroundings import Population, Surroundings, score_neighbours, score_spread
from dra_planner.simulation.window import ALL_BELOW, Window, look_around

if TYPE_CHECKING:
    from dra_planner.simulation.rows import Row

_STEPS_OF_AN_ATTEMPT = 5


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why nodes turn a pod down: `node` is the first of them by number, `nodes` how many they are."""

    verdict: Refusal | Undecided
    node: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The node that a pod goes to, and its placement there."""

    node: int
    placement: Placement


@dataclass(frozen=True, slots=True)
class Failure:
    """No node takes the pod. `error` is what ended the attempt, on all nodes."""

    rejections: tuple[Rejection, ...]
    error: Refusal | None = None

    @property
    def is_undecided(self) -> bool:
        """Whether some node might take the pod."""
        return self.error is None and any(isinstance(each.verdict, Undecided) for each in self.rejections)


@dataclass(slots=True)
class Scheduler:
    """Chooses nodes. Ties are broken by a seed, or go to the first node where there is none.

    `steps` counts what was done: some for each attempt, and one for each stage that the pod was compared with.
    """

    cluster: Cluster
    rules: Sequence[Rules]
    standings: Sequence[Standings]  # by number of kind
    seed: int | None = None
    steps: int = 0
    _rng: random.Random = field(default_factory=random.Random)
    _begin: int = 0  # where the next search begins
    _rows: dict[int, Row] = field(default_factory=dict)  # by number of kind
    _final: dict[int, dict[Stage, Placement]] = field(default_factory=dict)  # by number of kind: what no pod changes

    def __post_init__(self) -> None:
        self._rng.seed(self.seed)

    def attempt(self, pod: SimulatedPod) -> Choice | Failure:
        """Return the node that the pod would go to now. Nothing is changed."""
        kind, cluster = pod.kind, self.cluster
        rules = self.rules[kind.number]
        if pod.only_node is None and self._is_judged_alone(rules):
            choice = self._choose(kind, rules)
            if choice is not None:
                return choice
        around = Surroundings.of(kind, rules, cluster.population) if rules.filter else None
        window = self._look(pod, around)
        self.steps += _STEPS_OF_AN_ATTEMPT + len(window.feasible) + len(window.refused)
        error = window.error
        if error is not None or not window.feasible:
            return Failure(tuple(self._rejections(pod, window)), error)
        best = self._best(kind, rules, window)
        node = pod.only_node if pod.only_node is not None else self._pick(best, window)
        return Choice(node, window.answers[cluster.stage_of[node]])

    def _is_judged_alone(self, rules: Rules) -> bool:
        """Tell whether nodes of a large cluster say the same to such a pod whatever is on others, but for spreading."""
        cluster = self.cluster
        return not (rules.filter or rules.preferred or cluster.claims) and len(cluster.stage_of) >= ALL_BELOW

    def _choose(self, kind: PodKind, rules: Rules) -> Choice | None:
        """Return the choice from what nodes said before, and those say that have changed; None where none is told."""
        cluster = self.cluster
        view = self._row_of(kind).look_around(self._begin)
        if view is None:
            return None
        self._begin = view.end
        self.steps += _STEPS_OF_AN_ATTEMPT + view.stages
        best = present = view.standings
        if len(present) > 1:
            totals = self._totals(kind, rules, present, view.count_all_but)
            most = max(totals)
            best = [number for number, total in zip(present, totals, strict=True) if total == most]
        node = view.first(best) if self.seed is None else view.any(best, self._rng)
        placement = cluster.stages.ask(cluster.stage_of[node], kind)
        assert isinstance(placement, Placement)  # the node has a standing
        return Choice(node, placement)

    def _row_of(self, kind: PodKind) -> Row:
        row = self._rows.get(kind.number)
        if row is None:
            row = Row(self.standings[kind.number], self.cluster)
            self._rows[kind.number] = row
        return row

    def judge(self, kind: PodKind, stage: Stage, population: Population) -> Answer:
        """Return what a stage says to a pod of the kind, were the nodes as `population` says."""
        rules = self.rules[kind.number]
        return self._judge(kind, stage, Surroundings.of(kind, rules, population) if rules.filter else None)

    def _look(self, pod: SimulatedPod, around: Surroundings | None) -> Window:
        stage_of, kind = self.cluster.stage_of, pod.kind
        is_final = around is None and not self.cluster.claims
        answers = self._final.setdefault(kind.number, {}) if is_final else {}

        def judge(stage: Stage) -> Answer:
            return self._judge(kind, stage, around)

        if pod.only_node is not None:
            window = Window(stage_of, pod.only_node, 1, answers=answers)
            window.look({stage_of[pod.only_node]: 1}, judge)
            return window
        if len(stage_of) < ALL_BELOW:
            window = Window(stage_of, 0, len(stage_of), answers=answers)
            window.look({stage: len(nodes) for stage, nodes in self.cluster.nodes_in.items()}, judge)
            return window
        window = look_around(stage_of, self._begin, judge, answers)
        self._begin = (self._begin + window.seen) % len(stage_of)
        return window

    def _judge(self, kind: PodKind, stage: Stage, around: Surroundings | None) -> Answer:
        verdict, shape = self.cluster.stages.ask(stage, kind), kind.shape
        assert shape is not None  # pods that were there before are placed by nobody
        if isinstance(verdict, Refusal) and verdict.kind == "filter":
            return verdict
        misfit = around.reject(stage) if around is not None else None
        if misfit is not None:
            return Refusal(shape, stage.state, "filter", misfit=misfit)
        if self.cluster.claims:
            refusal = refuse_claims(shape, stage.state, self.cluster.claims, isinstance(verdict, Placement))
            if refusal is not None:
                return refusal
        return verdict

    def _best(self, kind: PodKind, rules: Rules, window: Window) -> list[Stage]:
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
            weight = self.cluster.stages.profile.preferred_pods
            beside = score_neighbours(rules.preferred, self.cluster.population, feasible)
            sums = [totals[number] + weight * score for number, score in zip(numbers, beside, strict=True)]
            most = max(sums)
            return [stage for stage, total in zip(feasible, sums, strict=True) if total == most]
        most = max(totals.values())
        best = {number for number, total in totals.items() if total == most}
        return [stage for stage, number in zip(feasible, numbers, strict=True) if number in best]

    def _totals(
        self, kind: PodKind, rules: Rules, present: Sequence[int], count_all_but: Callable[[Collection[int]], int]
    ) -> list[int]:
        """Return the score of each standing that feasible nodes have, but for what pods beside add.

        `present` are the numbers of these standings; `count_all_but` tells how many nodes have none of those given.
        """
        known = list(map(self.standings[kind.number].all.__getitem__, present))
        totals, profile = [each.fixed for each in known], self.cluster.stages.profile
        if True in [each.compares for each in known]:
            fewest = _shares([each.taints for each in known])
            _add(totals, profile.taints, [MAX_SCORE - share for share in fewest])
            _add(totals, profile.preferred_nodes, _shares([each.preferred_nodes for each in known]))
            _add(totals, profile.alternatives, _shares([each.alternatives for each in known]))
        if rules.soft_spread:
            places = [each.place for each in known]
            unplaced = [number for number, place in zip(present, places, strict=True) if place is None]
            scores = score_spread(rules, self.cluster.census.of(kind), count_all_but(unplaced), places)
            _add(totals, profile.spread, list(map(scores.__getitem__, places)))
        return totals

    def one_of(self, choices: int) -> int:
        """Return which of so many equal choices is taken, from 0 on: the first, or any of them by the seed."""
        return 0 if self.seed is None else self._rng.randrange(choices)

    def _pick(self, best: Sequence[Stage], window: Window) -> int:
        """Return one of the nodes of these stages: the first, or any of them by the seed."""
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


def _shares(raw: list[int]) -> list[int]:
    """Return raw scores as shares of the greatest, 0 to 100."""
    most = max(raw)
    return [MAX_SCORE * each // most for each in raw] if most else raw


def _add(totals: list[int], weight: int, scores: Sequence[int]) -> None:
    totals[:] = [total + weight * score for total, score in zip(totals, scores, strict=True)]
