"""What the nodes of a large cluster say to pods of one kind, node by node, kept from one attempt to the next.

Nodes stand in a row as the scheduler walks them, each with a sign for its standing, so that an attempt counts and
finds nodes as one does letters in a text. A pod that is bound changes one node: only this one is asked again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate, compress, count, islice
from random import Random
from typing import Final

from dra_planner.simulation.cluster.cluster import Cluster
from dra_planner.simulation.scheduler.standings import ENDS_ALL, NO_ROOM, Standings
from dra_planner.simulation.scheduler.window import nodes_wanted

_CHANGED: Final = 255
_SIGNS: Final = {NO_ROOM: 254, ENDS_ALL: 253}
_MOST: Final = 250  # signs for standings
_FEW: Final = 100  # signs that are looked for faster than found


class Row:
    """One kind's standings by node, in step with a cluster whose nodes change."""

    def __init__(self, standings: Standings, cluster: Cluster) -> None:
        self._standings = standings
        self._cluster = cluster
        self._wanted = nodes_wanted(len(cluster.stage_of))
        self._forget()

    def _forget(self) -> None:
        self._followed = len(self._cluster.changes)
        self._row = bytearray([_CHANGED]) * len(self._cluster.stage_of)
        self._signs = dict(_SIGNS)
        self._meant: list[int] = []  # the number of the standing of each sign

    def look_around(self, begin: int) -> View | None:
        """Return the nodes from number `begin` on (after the last comes the first) until enough take the pod.

        None where none does, where one ends the attempt on all nodes, or where they differ too much to be told apart.
        """
        row, changes = self._row, self._cluster.changes
        if len(changes) - self._followed > len(row) or len(self._signs) > _MOST:
            self._forget()
            row = self._row
        for node in changes[self._followed :]:
            row[node] = _CHANGED
        self._followed = len(changes)
        wanted = missing = self._wanted
        total, seen = len(row), bytearray()
        while missing > 0 and len(seen) < total:
            first = (begin + len(seen)) % total
            seen += self._between(first, min(first + missing, total, first + total - len(seen)))
            missing = wanted - len(seen) + seen.count(_SIGNS[NO_ROOM])
        if missing == wanted or len(self._signs) > _MOST or _SIGNS[ENDS_ALL] in seen:
            return None
        return View(begin, seen, self._meant, self._cluster)

    def _between(self, first: int, end: int) -> bytearray:
        row, stage_of, standings, signs = self._row, self._cluster.stage_of, self._standings, self._signs
        node = row.find(_CHANGED, first, end)
        while node >= 0:
            standing = standings[stage_of[node]]
            sign = signs.get(standing)
            if sign is None:
                sign = signs[standing] = min(len(self._meant), _MOST)
                self._meant.append(standing)
            row[node] = sign
            node = row.find(_CHANGED, node + 1, end)
        return row[first:end]


class View:
    """The nodes that one attempt looks at, from number `begin` on: the standing and the stage of each."""

    __slots__ = ("_alike", "_begin", "_seen", "_signs", "_stage_of", "_stages")

    def __init__(self, begin: int, seen: bytearray, meant: Sequence[int], cluster: Cluster) -> None:
        """`seen` are the signs of nodes; it stands for as long as the cluster stays as it is."""
        self._begin, self._seen, self._stage_of = begin, seen, cluster.stage_of
        signs = range(len(meant)) if len(meant) < _FEW else set(seen)
        self._signs = {meant[sign]: sign for sign in signs if sign in seen and sign < _MOST}
        end = begin + len(seen)
        beyond = max(0, end - len(cluster.stage_of))
        self._alike = cluster.alike[begin:end] + cluster.alike[:beyond]
        self._stages = self._stage_of[begin:end] + self._stage_of[:beyond] if 1 in self._alike else []

    @property
    def stages(self) -> int:
        """How many stages these nodes are in."""
        alike, nodes = self._alike.count(1), len(self._seen)
        if not alike:
            return nodes
        return nodes - alike + len(set(self._stages if alike == nodes else compress(self._stages, self._alike)))

    @property
    def end(self) -> int:
        """The number of the node after them."""
        return self._node(len(self._seen))

    @property
    def standings(self) -> list[int]:
        """The numbers of the standings of nodes that take the pod."""
        return list(self._signs)

    def count(self, standings: Collection[int]) -> int:
        """Return how many nodes have one of these standings."""
        return sum([self._seen.count(self._signs[each]) for each in standings])

    def count_all_but(self, standings: Collection[int]) -> int:
        """Return how many nodes take the pod that have none of these standings."""
        return len(self._seen) - self._seen.count(_SIGNS[NO_ROOM]) - self.count(standings)

    def first(self, best: Collection[int]) -> int:
        """Return the first node that has one of these standings."""
        return self._node(min(self._seen.find(self._signs[each]) for each in best))

    def any(self, best: Collection[int], chance: Random) -> int:
        """Return any node of those that have one of these standings, where nodes in one stage stand together."""
        table = bytearray(256)
        for each in best:
            table[self._signs[each]] = 1
        is_best = self._seen.translate(table)
        number = chance.randrange(is_best.count(1))
        if not int.from_bytes(is_best) & int.from_bytes(self._alike):
            return self._node(next(islice(compress(count(), is_best), number, None)))
        stages = self._stages
        nodes = Counter(compress(stages, is_best))
        ends = list(accumulate(nodes.values()))
        before = bisect_right(ends, number)
        stage, at = next(islice(nodes, before, None)), -1
        for _ in range(number - (ends[before - 1] if before else 0) + 1):
            at = stages.index(stage, at + 1)
        return self._node(at)

    def _node(self, at: int) -> int:
        return (self._begin + at) % len(self._stage_of)
