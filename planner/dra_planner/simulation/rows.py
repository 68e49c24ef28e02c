"""What the nodes of a large cluster say to pods of one kind, node by node, kept from one attempt to the next.

Nodes stand in a row as the scheduler walks them, each with a sign for its standing, so that an attempt counts and
finds nodes as one does letters in a text. A pod that is bound changes one node: only this one is asked again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate, compress, islice
from random import Random
from typing import Final

from dra_planner.simulation.stages import Stage
from dra_planner.simulation.standings import ENDS_ALL, NO_ROOM, Standings

_CHANGED: Final = 255
_SIGNS: Final = {NO_ROOM: 254, ENDS_ALL: 253}
_MOST: Final = 250  # signs for standings


class Row:
    """One kind's standings by node, in step with a cluster whose nodes change."""

    def __init__(self, standings: Standings, stage_of: Sequence[Stage], changes: Sequence[int]) -> None:
        """`changes` are the numbers of nodes whose stage has changed, in the order in which they did."""
        self.standings = standings
        self._stage_of = stage_of
        self._changes = changes
        self._forget()

    def _forget(self) -> None:
        self._followed = len(self._changes)
        self._row = bytearray([_CHANGED]) * len(self._stage_of)
        self._signs = dict(_SIGNS)
        self._known: dict[Stage, int] = {}
        self._meant: list[int] = []  # the number of the standing of each sign

    def look_around(self, begin: int, wanted: int) -> View | None:
        """Return the nodes from number `begin` on (after the last comes the first) until so many take the pod.

        None where none does, where one ends the attempt on all nodes, or where they differ too much to be told apart.
        """
        if len(self._changes) - self._followed > len(self._row) or len(self._signs) > _MOST:
            self._forget()
        for node in self._changes[self._followed :]:
            self._row[node] = _CHANGED
        self._followed = len(self._changes)
        total, missing, seen = len(self._row), wanted, bytearray()
        while missing > 0 and len(seen) < total:
            first = (begin + len(seen)) % total
            seen += self._between(first, min(first + missing, total, first + total - len(seen)))
            missing = wanted - len(seen) + seen.count(_SIGNS[NO_ROOM])
        if missing == wanted or len(self._signs) > _MOST or _SIGNS[ENDS_ALL] in seen:
            return None
        beyond = max(0, begin + len(seen) - total)
        return View(
            begin, total, seen, self._meant, [*self._stage_of[begin : begin + len(seen)], *self._stage_of[:beyond]]
        )

    def _between(self, first: int, end: int) -> bytearray:
        row, stage_of, known = self._row, self._stage_of, self._known
        piece = row[first:end]
        at = piece.find(_CHANGED)
        while at >= 0:
            stage = stage_of[first + at]
            sign = known.get(stage)
            if sign is None:
                sign = known[stage] = self._sign(stage)
            row[first + at] = piece[at] = sign
            at = piece.find(_CHANGED, at + 1)
        return piece

    def _sign(self, stage: Stage) -> int:
        standing = self.standings[stage]
        sign = self._signs.get(standing)
        if sign is None:
            sign = self._signs[standing] = min(len(self._meant), _MOST)
            self._meant.append(standing)
        return sign


class View:
    """The nodes of `total` that one attempt looks at, from number `begin` on: the standing and the stage of each."""

    __slots__ = ("_begin", "_meant", "_seen", "_signs", "_stages", "_total")

    def __init__(self, begin: int, total: int, seen: bytearray, meant: Sequence[int], stages: Sequence[Stage]) -> None:
        self._begin, self._total = begin, total
        self._seen, self._meant, self._stages = seen, meant, stages
        self._signs = {meant[sign]: sign for sign in set(seen) if sign < _MOST}

    @property
    def stages(self) -> int:
        """How many stages these nodes are in."""
        return len(set(self._stages))

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
        return sum(self._seen.count(self._signs[each]) for each in standings)

    def first(self, best: Collection[int]) -> int:
        """Return the first node that has one of these standings."""
        return self._node(min(self._seen.find(self._signs[each]) for each in best))

    def any(self, best: Collection[int], chance: Random) -> int:
        """Return any node of those that have one of these standings, where nodes in one stage stand together."""
        is_best = bytearray(256)
        for each in best:
            is_best[self._signs[each]] = 1
        stages = Counter(compress(self._stages, self._seen.translate(is_best)))
        ends = list(accumulate(stages.values()))
        number = chance.randrange(ends[-1])
        before = bisect_right(ends, number)
        stage, at = next(islice(stages, before, None)), -1
        for _ in range(number - (ends[before - 1] if before else 0) + 1):
            at = self._stages.index(stage, at + 1)
        return self._node(at)

    def _node(self, at: int) -> int:
        return (self._begin + at) % self._total
