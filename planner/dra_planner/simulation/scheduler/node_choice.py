"""Choose among the nodes that one attempt checked, using their cached answers in bytes.

Sets of nodes are integers with one byte per node (1 for a member), starting with the first node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import compress, islice
from itertools import count as positions
from random import Random
from typing import Final

from dra_planner.simulation.cluster.cluster import Cluster
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeStage
from dra_planner.simulation.scheduler.node_sampling import ALL_BELOW
from dra_planner.simulation.scheduler.score_cache import MOST, NO_DEVICES, NO_ROOM, Weighing
from dra_planner.simulation.scheduler.scoring import add_scores

_TAKE: Final = bytes(value <= MOST for value in range(256))
"""Maps scores to 1, and rejections to 0."""
_ONLY: Final = [bytes(value == one for value in range(256)) for one in range(256)]
"""Maps one value to 1 and all others to 0."""

_Group = tuple[int, int]
"""Points that nodes get in addition to the score for their amounts, and these nodes."""


class View:
    """The nodes of one attempt, starting at number `begin`, with their answers, their standings
    (see `stage_scores`), and the raw scores of the pods on them.
    """

    __slots__ = ("_begin", "_cluster", "_kind", "_near", "_scores", "_standings", "_weighing")

    def __init__(
        self,
        cluster: Cluster,
        weighing: Weighing,
        kind: PodKind,
        begin: int,
        scores: bytearray,
        standings: bytearray,
        near: tuple[bytearray, list[int]] | None,
    ) -> None:
        self._cluster, self._weighing, self._kind, self._begin = cluster, weighing, kind, begin
        self._scores, self._standings, self._near = scores, standings, near

    @property
    def nodes(self) -> int:
        """Number of these nodes."""
        return len(self._scores)

    def choose(self, chance: Random | None) -> int:
        """Return a node with the highest score: the first one, or a random one. Nodes in one stage
        are chosen in turn.
        """
        best, size = self._best(), len(self._scores)
        if chance is None:
            return self._node(size - (best.bit_length() + 7) // 8)
        number = chance.randrange(best.bit_count())
        cluster, begin = self._cluster, self._begin
        end, total = begin + size, len(cluster.stage_of)
        beyond, is_best = max(0, end - total), best.to_bytes(size)
        if total >= ALL_BELOW:
            alike = cluster.alike[begin:end] + cluster.alike[:beyond]
            if not best & int.from_bytes(alike):
                return self._node(next(islice(compress(positions(), is_best), number, None)))
        stages = cluster.stage_of[begin:end] + cluster.stage_of[:beyond]
        chosen = list(compress(stages, is_best))
        nodes = dict.fromkeys(chosen, 1)
        if len(nodes) < len(chosen):
            nodes = Counter(chosen)
        if total < ALL_BELOW:
            nodes = {stage: nodes[stage] for stage in cluster.nodes_in if stage in nodes}
        elif len(nodes) == len(chosen):
            return self._node(stages.index(chosen[number]))
        return self._node(_position(stages, nodes, number))

    def _node(self, at: int) -> int:
        return (self._begin + at) % len(self._cluster.stage_of)

    def _best(self) -> int:
        """Return the nodes with the highest score.

        Groups are tried in descending order of points. In each group, the scores for amounts are
        tried in descending order, until even the highest score can't compensate for the lower
        points.
        """
        scores, score = self._scores, self._weighing.highest
        known: list[_Group] = []  # existing scores for amounts, with their nodes
        highest, best = -1, 0
        for points, nodes in self._groups():
            at = 0
            while True:
                if at == len(known):
                    while score >= 0 and score not in scores:
                        score -= 1
                    if score < 0:
                        break
                    known.append((score, int.from_bytes(scores.translate(_ONLY[score]))))
                    score -= 1
                total = points + known[at][0]
                if total < highest:
                    break
                found = known[at][1] & nodes
                if found:
                    highest, best = total, found | (best if total == highest else 0)
                    break
                at += 1
            if points + known[0][0] < highest:
                break
        return best

    def _groups(self) -> list[_Group]:
        """Return the nodes that accept the pod, by points in descending order."""
        scores = self._scores
        missing = scores.count(NO_ROOM) + scores.count(NO_DEVICES)
        accept = int.from_bytes(scores.translate(_TAKE))
        groups = self._by_standing(len(scores) - missing, accept)
        if self._near is not None:
            near = self._by_near(*self._near, accept)
            groups = [
                (points + more, both)
                for points, some in groups
                for more, others in near
                if (both := some & others)
            ]
        groups.sort(key=_points, reverse=True)
        return groups

    def _by_near(self, row: bytearray, values: list[int], accept: int) -> list[_Group]:
        present = _present(row, len(values), accept)
        scoring = self._weighing.scoring
        assert scoring.population is not None  # pods on nodes are counted only in this case
        scores = scoring.population.normalize([values[number] for number, _ in present])
        weight = scoring.population_weight
        return [(weight * score, nodes) for score, (_, nodes) in zip(scores, present, strict=True)]

    def _by_standing(self, accepting: int, accept: int) -> list[_Group]:
        weighing = self._weighing
        own = weighing.standings[self._kind.number]
        present = _present(self._standings, len(own.all), accept)
        if len(present) == 1 and not own.compares:
            return [(0, accept)]
        known = [own.all[number] for number, _ in present]
        totals = (
            weighing.scoring.compare([raw for raw, _ in known])
            if own.compares
            else [0] * len(known)
        )
        domains = weighing.scoring.domains
        if own.rules.soft_spread and domains is not None and len(known) > 1:
            places = [place for _, place in known]
            placed = accepting
            if None in places:
                placed -= present[places.index(None)][1].bit_count()
            counts = self._cluster.census.of(self._kind)
            scores = domains.score(own.rules, counts, placed, places)
            add_scores(totals, weighing.scoring.domain_weight, scores)
        return [(total, nodes) for total, (_, nodes) in zip(totals, present, strict=True)]


def _points(group: _Group) -> int:
    return group[0]


def _present(row: bytearray, numbers: int, accept: int) -> list[_Group]:
    """Return the numbers in a row that belong to accepting nodes, each with these nodes."""
    if numbers == 1:
        return [(0, accept)]
    found = [
        (number, int.from_bytes(row.translate(_ONLY[number])) & accept)
        for number in range(numbers)
        if number in row
    ]
    return [each for each in found if each[1]]


def _position(stages: list[NodeStage], nodes: Mapping[NodeStage, int], number: int) -> int:
    """Return the position of a node, from 0, if the nodes of each stage are counted in turn."""
    at, in_turn = -1, iter(nodes)
    stage = next(in_turn)
    while number >= nodes[stage]:
        number -= nodes[stage]
        stage = next(in_turn)
    for _ in range(number + 1):
        at = stages.index(stage, at + 1)
    return at
