"""Cached answers of a cluster's nodes to each kind of pods, in bytes: one row for each kind, and
one column for each node.

A bound pod changes one node, so one column is updated, for all kinds at once. An attempt reads the
row of its kind with the search functions of `bytes`. Loads are scored once for all pods with equal
amounts, and devices are evaluated once for all nodes with equal holdings.

Each row contains the nodes twice in succession, so that every window of nodes is one slice. A node
has two bytes for each kind: the score for its amounts or the reason for a rejection, and the number
of its standing (the scores of other plugins).
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from dra_planner.simulation.cluster.cluster import Cluster
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeHoldings, NodeStage
from dra_planner.simulation.scheduler.near_pods import NearPods
from dra_planner.simulation.scheduler.node_choice import View
from dra_planner.simulation.scheduler.node_sampling import nodes_wanted
from dra_planner.simulation.scheduler.pod_rules import Neighbours
from dra_planner.simulation.scheduler.score_cache import (
    ENDS_ALL,
    MOST,
    NO_DEVICES,
    NO_ROOM,
    UNASKED,
    Weighing,
)

_MANY: Final = 8
"""Minimum number of nodes with equal holdings for which devices are evaluated in advance.

For fewer nodes, devices are evaluated when an attempt reaches the nodes.
"""


class Columns:
    """The nodes of one cluster, updated with every change of the cluster."""

    def __init__(self, weighing: Weighing, cluster: Cluster) -> None:
        """Create the columns. Raises TooMany."""
        self.weighing, self.cluster = weighing, cluster
        kinds, nodes = len(weighing.kinds), len(cluster.stage_of)
        self.nodes, self._wanted, self._twice = nodes, nodes_wanted(nodes), 2 * nodes
        self._scores = bytearray(kinds * self._twice)
        # by number of the kind, starting with its first attempt
        self._standings: dict[int, bytearray] = {}
        self._none = (0,) * len(weighing.scoring.by_placement)
        self._followed = len(cluster.changes)
        # by kind: the previously tried kinds that count it on nodes, and the rows of nearby pods
        self._counting: list[list[int]] = [[] for _ in range(kinds)]
        self._near_by: list[list[NearPods]] = [[] for _ in range(kinds)]
        self._near: dict[tuple[Neighbours, ...], NearPods] = {}
        self._ranked: list[int] = []
        for node, stage in enumerate(cluster.stage_of):
            self._scores[node :: self.nodes] = weighing.scores(stage)

    def _follow(self) -> None:
        """Update the columns of nodes that have changed."""
        changes, stage_of, nodes = self.cluster.changes, self.cluster.stage_of, self.nodes
        for node, kind in dict.fromkeys(changes[self._followed :]):
            stage = stage_of[node]
            self._scores[node::nodes] = self.weighing.scores(stage)
            for number in self._ranked:
                self._write_standing(node, stage, number)
            if kind >= 0:
                for number in self._counting[kind]:
                    self._write_standing(node, stage, number)
                for near in self._near_by[kind]:
                    near.write(node, stage)
        self._followed = len(changes)

    def _write_standing(self, node: int, stage: NodeStage, number: int) -> None:
        score, row = self._scores[number * self._twice + node], self._standings[number]
        standing = self.weighing.standings[number].number(stage, self._ranks(stage, number, score))
        row[node] = row[node + self.nodes] = standing

    def _ranks(self, stage: NodeStage, number: int, score: int) -> tuple[int, ...]:
        """Return the raw scores of a pod's placement on a node, if the kind has such scores."""
        if score > MOST or not self.weighing.standings[number].has_ranks:
            return self._none
        verdict = self.weighing.verdict(stage, self.weighing.kinds[number])
        return self._none if isinstance(verdict, int) else verdict

    def _begin_row(self, number: int) -> None:
        """Evaluate the nodes for a kind that is tried for the first time. Equal nodes are evaluated
        once.
        """
        cluster, weighing, kind = self.cluster, self.weighing, self.weighing.kinds[number]
        standings, nodes_of = weighing.standings[number], Counter[NodeHoldings]()
        if standings.has_ranks:
            self._ranked.append(number)
        counted = (each.kinds for each in standings.rules.soft_spread)
        for watched in frozenset[int]().union(*counted):
            self._counting[watched].append(number)
        if standings.rules.preferred:
            self._begin_near(standings.rules.preferred)
        for stage, nodes in cluster.nodes_in.items():
            nodes_of[stage.taken] += len(nodes)
        scores, row = dict[NodeStage, int](), dict[NodeStage, int]()
        for stage in cluster.nodes_in:
            score = weighing.scores(stage)[2 * number]
            if score == UNASKED and nodes_of[stage.taken] >= _MANY:
                weighing.verdict(stage, kind)
                score = weighing.scores(stage)[2 * number]
            scores[stage] = score
            row[stage] = standings.number(stage, self._ranks(stage, number, score))
        stage_of, at = cluster.stage_of, number * self._twice
        self._scores[at : at + self._twice] = bytes(map(scores.__getitem__, stage_of)) * 2
        self._standings[number] = bytearray(map(row.__getitem__, stage_of)) * 2

    def _begin_near(self, terms: tuple[Neighbours, ...]) -> None:
        if terms in self._near:
            return
        near = self._near[terms] = NearPods(terms, self.weighing.scoring, self.cluster.stage_of)
        for watched in frozenset[int]().union(*(each.kinds for each in terms)):
            self._near_by[watched].append(near)

    def look_around(self, kind: PodKind, begin: int) -> View | None:
        """Return the nodes from number `begin` on (cyclically), until enough nodes accept the pod.

        Returns None if no node accepts it, or if a node ends the attempt with an error. Raises
        TooMany.
        """
        if self._followed < len(self.cluster.changes):
            self._follow()
        if kind.number not in self._standings:
            self._begin_row(kind.number)
        scores, first = self._scores, kind.number * self._twice + begin
        end, last, missing = first, first + self.nodes, self._wanted
        while missing > 0 and end < last:
            start, end = end, min(end + missing, last)
            at = scores.find(UNASKED, start, end)
            while at >= 0:
                self._evaluate(kind, (at - kind.number * self._twice) % self.nodes)
                at = scores.find(UNASKED, at + 1, end)
            if scores.find(ENDS_ALL, start, end) >= 0:
                return None
            missing -= (
                end
                - start
                - scores.count(NO_ROOM, start, end)
                - scores.count(NO_DEVICES, start, end)
            )
        if missing == self._wanted:
            return None
        seen = slice(begin, begin + end - first)
        own = self.weighing.standings[kind.number]
        return View(
            self.cluster,
            self.weighing,
            kind,
            begin,
            scores[first:end],
            self._standings[kind.number][seen],
            self._near[own.rules.preferred].seen(seen) if own.rules.preferred else None,
        )

    def _evaluate(self, kind: PodKind, node: int) -> None:
        stage, number = self.cluster.stage_of[node], kind.number
        verdict = self.weighing.verdict(stage, kind)
        at = number * self._twice + node
        score = verdict if isinstance(verdict, int) else self.weighing.scores(stage)[2 * number]
        self._scores[at] = self._scores[at + self.nodes] = score
        if number in self._ranked:
            self._write_standing(node, stage, number)
