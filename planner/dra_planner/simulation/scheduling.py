"""One attempt of the scheduler: the nodes that take a pod, their scores, and the one that it goes to.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/schedule_one.go, backend/cache/node_tree.go @v1.36.3.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dra_planner.allocation import Placement, Refusal, Undecided
from dra_planner.model import Node
from dra_planner.simulation.claims import refuse_claims
from dra_planner.simulation.cluster import Cluster, SimulatedPod
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.rules import Rules
from dra_planner.simulation.scores import MAX_SCORE
from dra_planner.simulation.stages import Stage, StageAnswer
from dra_planner.simulation.surroundings import Population, Surroundings, score_neighbours, score_spread

_ALL_BELOW = 100  # nodes; with so many or more only part of them is looked at
_LEAST_PERCENT, _PERCENT, _NODES_PER_PERCENT = 5, 50, 125
_ZONE = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why nodes turn a pod down: `node` is the first of them by number, `nodes` how many they are."""

    verdict: Refusal | Undecided
    node: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The node that a pod goes to, and what its stage said."""

    node: int
    answer: StageAnswer


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

    `steps` counts what was done: one for each stage that a pod was compared with.
    """

    cluster: Cluster
    rules: Sequence[Rules]
    seed: int | None = None
    steps: int = 0
    _rng: random.Random = field(default_factory=random.Random)
    _order: tuple[int, ...] = ()
    _next: int = 0

    def __post_init__(self) -> None:
        self._rng.seed(self.seed)
        if len(self.cluster.start.nodes) >= _ALL_BELOW:
            self._order = interleave_zones(self.cluster.start.nodes)

    def attempt(self, pod: SimulatedPod) -> Choice | Failure:
        """Return the node that the pod would go to now. Nothing is changed."""
        kind, cluster = pod.kind, self.cluster
        rules = self.rules[kind.number]
        everywhere = cluster.population
        candidates = everywhere if pod.only_node is None else [(cluster.stage_of[pod.only_node], 1)]
        around = Surroundings.of(kind, rules, everywhere) if rules.filter else None
        self.steps += len(candidates)
        feasible: dict[Stage, StageAnswer] = {}
        refused: dict[Stage, Refusal | Undecided] = {}
        for stage, _ in candidates:
            answer = self._judge(kind, stage, around)
            if isinstance(answer, StageAnswer):
                feasible[stage] = answer
            else:
                refused[stage] = answer
        window = self._window(pod, feasible) if pod.only_node is None else None
        error = self._error(refused, window)
        if error is not None or not feasible:
            return Failure(tuple(self._rejections(pod, refused)), error)
        population = self._in_window(feasible, window, pod)
        stages = self._best(kind, rules, everywhere, population, feasible)
        node = pod.only_node if pod.only_node is not None else self._pick(stages, window)
        return Choice(node, feasible[cluster.stage_of[node]])

    def judge(self, kind: PodKind, stage: Stage, population: Population) -> StageAnswer | Refusal | Undecided:
        """Return what a stage says to a pod of the kind, were the nodes as `population` says."""
        rules = self.rules[kind.number]
        return self._judge(kind, stage, Surroundings.of(kind, rules, population) if rules.filter else None)

    def _judge(self, kind: PodKind, stage: Stage, around: Surroundings | None) -> StageAnswer | Refusal | Undecided:
        answer, shape = self.cluster.stages.ask(stage, kind), kind.shape
        verdict = answer.verdict
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
        return answer if isinstance(verdict, Placement) else verdict

    # -- which nodes are looked at

    def _window(self, pod: SimulatedPod, feasible: dict[Stage, StageAnswer]) -> Sequence[int] | None:
        """Return the nodes that are looked at, where that is not all of them; the next search begins behind them."""
        order = self._order
        if not order:
            return None
        total = len(order)
        wanted = max(_ALL_BELOW, total * max(_LEAST_PERCENT, _PERCENT - total // _NODES_PER_PERCENT) // 100)
        stage_of, begin = self.cluster.stage_of, self._next
        turned = order[begin:] + order[:begin]
        seen = wanted
        found = sum(stage_of[node] in feasible for node in turned[:wanted])
        while found < wanted and seen < total:
            more = turned[seen : seen + wanted - found]
            found += sum(stage_of[node] in feasible for node in more)
            seen += len(more)
        self._next = (begin + seen) % total
        return turned[:seen]

    def _error(self, refused: dict[Stage, Refusal | Undecided], window: Sequence[int] | None) -> Refusal | None:
        errors = {s: v for s, v in refused.items() if isinstance(v, Refusal) and v.kind == "error"}
        if window is None or not errors:
            return next(iter(errors.values()), None)
        met = (self.cluster.stage_of[node] for node in window)
        return next((errors[stage] for stage in met if stage in errors), None)

    def _in_window(
        self, feasible: Iterable[Stage], window: Sequence[int] | None, pod: SimulatedPod
    ) -> list[tuple[Stage, int]]:
        if pod.only_node is not None:
            return [(stage, 1) for stage in feasible]
        if window is None:
            return [(stage, len(self.cluster.nodes_in[stage])) for stage in feasible]
        counts: dict[Stage, int] = dict.fromkeys(feasible, 0)
        stage_of = self.cluster.stage_of
        for node in window:
            stage = stage_of[node]
            if stage in counts:
                counts[stage] += 1
        return [(stage, nodes) for stage, nodes in counts.items() if nodes]

    # -- which of them is best

    def _best(
        self,
        kind: PodKind,
        rules: Rules,
        everywhere: Population,
        population: Population,
        feasible: dict[Stage, StageAnswer],
    ) -> list[Stage]:
        """Return the stages with the highest score."""
        if len(population) == 1:
            return [population[0][0]]
        answers = [feasible[stage] for stage, _ in population]
        profile = self.cluster.stages.profile
        totals = [answer.fixed for answer in answers]
        fewest = _shares([answer.taints for answer in answers])
        _add(totals, profile.taints, [MAX_SCORE - share for share in fewest])
        _add(totals, profile.preferred_nodes, _shares([answer.preferred_nodes for answer in answers]))
        _add(totals, profile.alternatives, _shares([answer.alternatives for answer in answers]))
        if rules.soft_spread:
            _add(totals, profile.spread, score_spread(kind, rules, everywhere, population))
        if rules.preferred:
            _add(totals, profile.preferred_pods, score_neighbours(rules.preferred, everywhere, population))
        most = max(totals)
        return [stage for (stage, _), total in zip(population, totals, strict=True) if total == most]

    def _pick(self, stages: Sequence[Stage], window: Sequence[int] | None) -> int:
        """Return one of the nodes of these stages."""
        cluster = self.cluster
        if window is not None:
            best = set(stages)
            nodes: Sequence[int] = [node for node in window if cluster.stage_of[node] in best]
            return nodes[0] if self.seed is None else nodes[self._rng.randrange(len(nodes))]
        groups = [cluster.nodes_in[stage] for stage in stages]
        if self.seed is None:
            return min(map(min, groups))
        number = self._rng.randrange(sum(map(len, groups)))
        for group in groups:
            if number < len(group):
                return group[number]
            number -= len(group)
        raise AssertionError("the number is below that of the nodes")

    def _rejections(self, pod: SimulatedPod, refused: dict[Stage, Refusal | Undecided]) -> Iterator[Rejection]:
        for stage, verdict in refused.items():
            nodes = self.cluster.nodes_in[stage] if pod.only_node is None else [pod.only_node]
            yield Rejection(verdict, min(nodes), len(nodes))


def _shares(raw: Sequence[int]) -> list[int]:
    """Return raw scores as shares of the greatest, 0 to 100."""
    most = max(raw)
    return [MAX_SCORE * each // most for each in raw] if most else [0] * len(raw)


def _add(totals: list[int], weight: int, scores: Sequence[int]) -> None:
    for number, score in enumerate(scores):
        totals[number] += weight * score


def interleave_zones(nodes: Sequence[Node]) -> tuple[int, ...]:
    """Return the numbers of nodes as the scheduler walks them: one of each zone in turn."""
    zones: dict[tuple[str | None, ...], list[int]] = {}
    for number, node in enumerate(nodes):
        zones.setdefault(tuple(node.meta.labels.get(key) for key in _ZONE), []).append(number)
    longest = max(map(len, zones.values()), default=0)
    return tuple(zone[turn] for turn in range(longest) for zone in zones.values() if turn < len(zone))
