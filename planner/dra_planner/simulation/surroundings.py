"""What rules between pods say of the nodes as they are now: which are turned down, and how the others score.

Nodes are taken stage by stage: (stage, how many nodes are in it). The label `kubernetes.io/hostname` stands for the
node itself.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/plugins/{interpodaffinity,podtopologyspread}/
{filtering,scoring}.go @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import floor, log

from dra_planner.allocation.node_filters import HOSTNAME, Misfit
from dra_planner.model import Node
from dra_planner.simulation.census import Domains
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.rules import KindSet, Neighbours, Rules, Spread, includes
from dra_planner.simulation.scores import MAX_SCORE
from dra_planner.simulation.stages import Stage

Population = Sequence[tuple[Stage, int]]
"""Stages, and how many nodes are in each."""

Count = Callable[[Stage], int]


def _count_pods(key: str, kinds: KindSet, population: Iterable[tuple[Stage, int]]) -> dict[str | None, int]:
    """Return the pods of these kinds by value of a label; nodes without it count for None."""
    counts: dict[str | None, int] = {}
    for stage, nodes in population:
        value = stage.label(key)
        counts[value] = counts.get(value, 0) + stage.count(kinds) * nodes
    return counts


def _counter(key: str, kinds: KindSet, population: Population) -> Count:
    """Return what counts the pods of these kinds in the domain of a node; 0 where the node has no such label."""
    if key == HOSTNAME:
        return lambda stage: stage.count(kinds) if stage.label(key) is not None else 0
    counts = _count_pods(key, kinds, population)
    counts.pop(None, None)
    return lambda stage: counts.get(stage.label(key), 0)


# -- filters


@dataclass(slots=True)
class Surroundings:
    """The rules of one kind that turn nodes down, counted out on the nodes as they are."""

    _beside: list[tuple[str, Count]]
    _first: bool
    _apart: list[Count]
    _spread: list[tuple[Spread, Count, int]]

    @classmethod
    def of(cls, kind: PodKind, rules: Rules, population: Population) -> Surroundings:
        beside = [(each.key, _counter(each.key, each.kinds, population)) for each in rules.beside]
        alone = rules.may_be_first and not any(
            stage.count(each.kinds) and stage.label(each.key) is not None
            for each in rules.beside
            for stage, _ in population
        )
        return cls(
            beside,
            alone,
            [_counter(each.key, each.kinds, population) for each in rules.apart],
            [_count_spread(each, kind, rules.hard_spread, population) for each in rules.hard_spread],
        )

    def reject(self, stage: Stage) -> Misfit | None:
        """Return what keeps a pod of the kind off such a node, or None."""
        for spread, count, least in self._spread:
            constraint = spread.constraint
            if stage.label(constraint.topology_key) is None:
                return Misfit("topology-label", label=constraint.topology_key)
            if count(stage) + spread.counts_itself - least > constraint.max_skew:
                return Misfit("spread", label=constraint.topology_key)
        for key, count in self._beside:
            if stage.label(key) is None:
                return Misfit("topology-label", label=key)
            if not (self._first or count(stage)):
                return Misfit("affinity", label=key)
        if any(count(stage) for count in self._apart):
            return Misfit("anti-affinity")
        return None


def _count_spread(
    spread: Spread, kind: PodKind, beside: Sequence[Spread], population: Population
) -> tuple[Spread, Count, int]:
    """Return how a constraint counts a domain, and the least count of all; a domain without eligible nodes is none."""
    constraint = spread.constraint
    keys = [each.constraint.topology_key for each in beside]
    eligible = [
        (stage, nodes)
        for stage, nodes in population
        if all(stage.label(key) is not None for key in keys) and includes(spread, kind, stage.node)
    ]
    if constraint.topology_key == HOSTNAME:
        domains = sum(nodes for _, nodes in eligible)
        least = min((stage.count(spread.kinds) for stage, _ in eligible), default=0)
        inside = {stage for stage, _ in eligible}

        def count(stage: Stage) -> int:
            return stage.count(spread.kinds) if stage in inside else 0

    else:
        counts = _count_pods(constraint.topology_key, spread.kinds, eligible)
        domains, least = len(counts), min(counts.values(), default=0)

        def count(stage: Stage) -> int:
            return counts.get(stage.label(constraint.topology_key), 0)

    if constraint.min_domains is not None and domains < constraint.min_domains:
        least = 0
    return spread, count, least


# -- scores


Place = tuple[int | str | None, ...]
"""Where a node is counted: for each soft constraint the pods on it, where hosts are counted, or the value of its label;
None where it has none.
"""

LabelledPlace = tuple[str | None, KindSet | None]
"""The value of a label, or the kinds of pods that are counted on the node itself, where hosts are counted."""


def score_spread(
    rules: Rules, domains: Sequence[Domains], nodes: int, places: Iterable[Place | None]
) -> dict[Place | None, int]:
    """Return the score of PodTopologySpread in each of these places, 0 to 100: more for emptier domains.

    `places` are those of the feasible nodes, `nodes` how many of these have one, `domains` the pods by domain of each
    soft constraint.
    """
    raw = dict.fromkeys([place for place in set(places) if place is not None], 0.0)
    for number, (spread, counts) in enumerate(zip(rules.soft_spread, domains, strict=True)):
        is_host, slack = spread.constraint.topology_key == HOSTNAME, spread.constraint.max_skew - 1
        weight = log((nodes if is_host else len({place[number] for place in raw})) + 2)  # of one pod
        for place in raw:
            value = place[number]
            if value is not None:
                raw[place] += (value if isinstance(value, int) else counts.get(value, 0)) * weight + slack
    full = {place: floor(each + 0.5) for place, each in raw.items()}
    least, most = min(full.values(), default=0), max(full.values(), default=0)
    scores: dict[Place | None, int] = {
        place: MAX_SCORE * (most + least - each) // most if most else MAX_SCORE for place, each in full.items()
    }
    scores[None] = 0
    return scores


def labelled_places(rules: Rules, node: Node) -> tuple[LabelledPlace, ...] | None:
    """Return where soft constraints count pods on a node, one by one; None where the node does not count."""
    if not rules.counts_node(node):
        return None
    labels = node.meta.labels
    keys = ((each.constraint.topology_key, each.kinds) for each in rules.soft_spread)
    return tuple((None, kinds) if key == HOSTNAME and key in labels else (labels.get(key), None) for key, kinds in keys)


def score_neighbours(preferred: Iterable[Neighbours], everywhere: Population, feasible: Iterable[Stage]) -> list[int]:
    """Return the score of InterPodAffinity for each feasible stage, 0 to 100 from the least to the most preferred."""
    counts = [(_counter(each.key, each.kinds, everywhere), each.weight) for each in preferred]
    raw = [sum(count(stage) * weight for count, weight in counts) for stage in feasible]
    least, most = min(raw, default=0), max(raw, default=0)
    if most == least:
        return [0] * len(raw)
    return [int(float(MAX_SCORE) * ((each - least) / (most - least))) for each in raw]
