"""Cached answers of a large cluster's nodes to each kind of pods, in bytes: one row for each kind,
and one column for each node.

A bound pod changes one node, so one column is updated, for all kinds at once. An attempt reads the
row of its kind with the search functions of `bytes`. Loads are scored once for all pods with equal
amounts, and devices are evaluated once for all nodes with equal holdings.

Each row contains the nodes twice in succession, so that every window of nodes is one slice. A node
has two bytes for each kind: the score for its amounts or the reason for a rejection, and the number
of its standing, which contains the scores of other plugins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate, compress, count, islice
from random import Random
from typing import Final

from dra_planner.simulation.cluster.cluster import Cluster
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import Company, NodeHoldings, NodeStage
from dra_planner.simulation.scheduler.node_sampling import nodes_wanted
from dra_planner.simulation.scheduler.score_cache import (
    ENDS_ALL,
    MOST,
    NO_DEVICES,
    NO_ROOM,
    UNASKED,
    Weighing,
)
from dra_planner.simulation.scheduler.scoring import add_scores

_MANY: Final = 8
"""Number of nodes with equal holdings from which on devices are evaluated in advance. For fewer
nodes, they are evaluated when an attempt reaches them.
"""
_TAKE: Final = bytes(value <= MOST for value in range(256))
"""Maps scores to 1, and rejections to 0."""
_ONLY: Final = [bytes(value == one for value in range(256)) for one in range(256)]
"""Maps one value to 1 and all others to 0."""


class Columns:
    """The nodes of one cluster, updated with every change of the cluster."""

    def __init__(self, weighing: Weighing, cluster: Cluster) -> None:
        """Raises TooMany."""
        self.weighing, self.cluster = weighing, cluster
        kinds, nodes = len(weighing.kinds), len(cluster.stage_of)
        self.nodes, self._wanted, self._twice = nodes, nodes_wanted(nodes), 2 * nodes
        self._says = bytearray(kinds * self._twice)
        self._standings: dict[int, bytearray] = {}  # by number of kind, from its first attempt on
        self._none = (0,) * len(weighing.scoring.by_placement)
        self._followed = len(cluster.changes)
        self._companies: list[Company] = [stage.company for stage in cluster.stage_of]
        # by kind: the kinds that count it on nodes
        self._counting: list[list[int]] = [[] for _ in range(kinds)]
        self._ranked: list[int] = []
        for number, standings in enumerate(weighing.standings):
            for kind in frozenset[int]().union(
                *(each.kinds for each in standings.rules.soft_spread)
            ):
                self._counting[kind].append(number)
        for node, stage in enumerate(cluster.stage_of):
            self._says[node :: self.nodes] = weighing.says(stage)

    def _write(self, node: int) -> None:
        stage, before = self.cluster.stage_of[node], self._companies[node]
        self._says[node :: self.nodes] = self.weighing.says(stage)
        for number in self._ranked:
            self._write_standing(node, stage, number)
        if stage.company != before:
            self._companies[node] = stage.company
            for kind in {kind for kind, _ in {*stage.company} ^ {*before}}:
                for number in self._counting[kind]:
                    if number in self._standings:
                        self._write_standing(node, stage, number)

    def _write_standing(self, node: int, stage: NodeStage, number: int) -> None:
        said, row = self._says[number * self._twice + node], self._standings[number]
        standing = self.weighing.standings[number].number(stage, self._ranks(stage, number, said))
        row[node] = row[node + self.nodes] = standing

    def _ranks(self, stage: NodeStage, number: int, said: int) -> tuple[int, ...]:
        """Return the raw scores of a pod's placement on a node, if the kind has such scores."""
        if said > MOST or not self.weighing.standings[number].has_ranks:
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
        for stage, nodes in cluster.nodes_in.items():
            nodes_of[stage.taken] += len(nodes)
        says, row = dict[NodeStage, int](), dict[NodeStage, int]()
        for stage in cluster.nodes_in:
            said = weighing.says(stage)[2 * number]
            if said == UNASKED and nodes_of[stage.taken] >= _MANY:
                weighing.verdict(stage, kind)
                said = weighing.says(stage)[2 * number]
            says[stage] = said
            row[stage] = standings.number(stage, self._ranks(stage, number, said))
        stage_of, at = cluster.stage_of, number * self._twice
        self._says[at : at + self._twice] = bytes(map(says.__getitem__, stage_of)) * 2
        self._standings[number] = bytearray(map(row.__getitem__, stage_of)) * 2

    def look_around(self, kind: PodKind, begin: int) -> View | None:
        """Return the nodes from number `begin` on (cyclically) until enough accept the pod.

        None if no node accepts it, or if a node ends the attempt with an error. Raises TooMany.
        """
        changes = self.cluster.changes
        for node in dict.fromkeys(changes[self._followed :]):
            self._write(node)
        self._followed = len(changes)
        if kind.number not in self._standings:
            self._begin_row(kind.number)
        says, first = self._says, kind.number * self._twice + begin
        end, last, missing = first, first + self.nodes, self._wanted
        while missing > 0 and end < last:
            start, end = end, min(end + missing, last)
            at = says.find(UNASKED, start, end)
            while at >= 0:
                self._ask(kind, (at - kind.number * self._twice) % self.nodes)
                at = says.find(UNASKED, at + 1, end)
            if says.find(ENDS_ALL, start, end) >= 0:
                return None
            missing -= (
                end - start - says.count(NO_ROOM, start, end) - says.count(NO_DEVICES, start, end)
            )
        if missing == self._wanted:
            return None
        standings = self._standings[kind.number][begin : begin + end - first]
        return View(self, kind, begin, says[first:end], standings)

    def _ask(self, kind: PodKind, node: int) -> None:
        stage, number = self.cluster.stage_of[node], kind.number
        verdict = self.weighing.verdict(stage, kind)
        at = number * self._twice + node
        said = verdict if isinstance(verdict, int) else self.weighing.says(stage)[2 * number]
        self._says[at] = self._says[at + self.nodes] = said
        if number in self._ranked:
            self._write_standing(node, stage, number)


class View:
    """The nodes of one attempt, from number `begin` on, with their answers and standings."""

    __slots__ = ("_begin", "_columns", "_kind", "_says", "_standings")

    def __init__(
        self, columns: Columns, kind: PodKind, begin: int, says: bytearray, standings: bytearray
    ) -> None:
        self._columns, self._kind, self._begin = columns, kind, begin
        self._says, self._standings = says, standings

    @property
    def nodes(self) -> int:
        """Number of these nodes."""
        return len(self._says)

    def choose(self, chance: Random | None) -> int:
        """Return a node with the highest score: the first one, or a random one. Nodes in one stage
        are chosen in turn.
        """
        is_best = self._best()
        if chance is None:
            return self._node(is_best.find(1))
        number = chance.randrange(is_best.count(1))
        cluster, begin = self._columns.cluster, self._begin
        end = begin + len(self._says)
        beyond = max(0, end - self._columns.nodes)
        alike = cluster.alike[begin:end] + cluster.alike[:beyond]
        if not int.from_bytes(is_best) & int.from_bytes(alike):
            return self._node(next(islice(compress(count(), is_best), number, None)))
        stages = cluster.stage_of[begin:end] + cluster.stage_of[:beyond]
        nodes = Counter(compress(stages, is_best))
        ends = list(accumulate(nodes.values()))
        before = bisect_right(ends, number)
        stage, at = next(islice(nodes, before, None)), -1
        for _ in range(number - (ends[before - 1] if before else 0) + 1):
            at = stages.index(stage, at + 1)
        return self._node(at)

    def _node(self, at: int) -> int:
        return (self._begin + at) % self._columns.nodes

    def _best(self) -> bytes | bytearray:
        """Return 1 for each node with the highest score.

        The scores for amounts are tried from the highest on, until even the best standing can't
        compensate for them.
        """
        says, standings, worth = self._says, self._standings, self._worth()
        most, highest, best = max(worth.values()), -1, list[tuple[int, bytearray, set[int]]]()
        for score in range(self._columns.weighing.highest, -1, -1):
            if score not in says:
                continue
            if score + most < highest:
                break
            here = says.translate(_ONLY[score])
            present = set(compress(standings, here)) if len(worth) > 1 else set(worth)
            total = score + max([worth[each] for each in present])
            if total > highest:
                highest, best = total, []
            if total == highest:
                best.append((score, here, present))
        if len(best) == 1 and all(best[0][0] + worth[each] == highest for each in best[0][2]):
            return best[0][1]
        found = 0
        for score, here, present in best:
            meant = bytearray(256)
            for each in present:
                meant[each] = score + worth[each] == highest
            found |= int.from_bytes(here) & int.from_bytes(standings.translate(meant))
        return found.to_bytes(len(says))

    def _worth(self) -> dict[int, int]:
        """Return the points of the standings of the nodes that accept the pod, by number."""
        weighing = self._columns.weighing
        own, says, standings = weighing.standings[self._kind.number], self._says, self._standings
        missing = says.count(NO_ROOM) + says.count(NO_DEVICES)
        if missing:
            numbers = list(set(compress(standings, says.translate(_TAKE))))
        else:
            numbers = [number for number in range(len(own.all)) if number in standings]
        known = [own.all[number] for number in numbers]
        totals = (
            weighing.scoring.compare([raw for raw, _ in known])
            if own.compares
            else [0] * len(known)
        )
        domains = weighing.scoring.domains
        if own.rules.soft_spread and domains is not None and len(known) > 1:
            places = [place for _, place in known]
            nodes = len(says) - missing
            if None in places:
                out = bytes([each in numbers and own.all[each][1] is None for each in range(256)])
                nodes -= sum(compress(says.translate(_TAKE), standings.translate(out)))
            scores = domains.score(
                own.rules, self._columns.cluster.census.of(self._kind), nodes, places
            )
            add_scores(totals, weighing.scoring.domain_weight, [scores[place] for place in places])
        return dict(zip(numbers, totals, strict=True))
