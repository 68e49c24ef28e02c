"""Preferred pods on the nodes of a cluster, in bytes.

They determine the raw score of InterPodAffinity for pods that prefer the nodes of other pods. All
kinds with the same preferences share one row, so that a bound pod updates it once.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.simulation.cluster.stages import NodeStage
from dra_planner.simulation.scheduler.pod_rules import Neighbours
from dra_planner.simulation.scheduler.score_cache import TooMany
from dra_planner.simulation.scheduler.scoring import Scoring


class NearPods:
    """The raw scores of nodes for these preferences: a row of numbers, and `values` by number.

    As in `Columns`, the row contains the nodes twice.
    """

    __slots__ = ("_nodes", "_numbers", "_raw", "_row", "_terms", "values")

    def __init__(
        self, terms: tuple[Neighbours, ...], scoring: Scoring, stage_of: Sequence[NodeStage]
    ) -> None:
        """Create the row. Raises TooMany."""
        # pods on nodes are counted only in this case
        assert scoring.population is not None
        self._terms, self._raw = terms, scoring.population.count
        self.values: list[int] = []
        self._numbers: dict[int, int] = {}
        self._nodes = len(stage_of)
        self._row = bytearray(map(self._number, stage_of)) * 2

    def write(self, node: int, stage: NodeStage) -> None:
        """Record that a node is now in this stage."""
        row = self._row
        row[node] = row[node + self._nodes] = self._number(stage)

    def seen(self, nodes: slice) -> tuple[bytearray, list[int]]:
        """Return the numbers of these nodes, and the raw scores by number."""
        return self._row[nodes], self.values

    def _number(self, stage: NodeStage) -> int:
        value = self._raw(self._terms, stage)
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
            if number > 255:
                raise TooMany
        return number
