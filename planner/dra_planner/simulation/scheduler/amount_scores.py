"""The scores for a node's amounts, which don't depend on other nodes.

They are the same for all pods with equal amounts.
"""

from __future__ import annotations

from collections.abc import Hashable

from dra_planner.allocation.node.template import Template
from dra_planner.allocation.place import needs_of
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeLoad
from dra_planner.simulation.scheduler.scoring import Scoring


class Wishes:
    """Scores nodes of one template for pods with equal amounts."""

    __slots__ = ("_requests", "_scorers")

    def __init__(self, kind: PodKind, template: Template, scoring: Scoring) -> None:
        assert kind.shape is not None  # pods that already exist aren't placed again
        self._scorers = scoring.load_scorers(kind.amounts, template.node, template.features)
        self._requests = tuple(needs_of(kind.shape, template).requests.items())

    def score(self, load: NodeLoad) -> int:
        """Return the score of a node for its amounts, independent of other nodes, and cache it with
        the load. It's negative if the free amounts don't suffice, as in `reject_for_now`.
        """
        found = load.scores.get(self)
        if found is None:
            found = load.scores[self] = self._score(load)
        return found

    def _score(self, load: NodeLoad) -> int:
        free = load.free
        for name, amount in self._requests:
            if amount > free.get(name, 0):
                return -1
        total = 0
        for weight, score in self._scorers:
            total += weight * score(load)
        return total


class WishesByAmounts:
    """Assigns the same wishes to pods with equal amounts, so that loads are scored once for all of
    them.
    """

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self._known: dict[Hashable, Wishes] = {}

    def of(self, kind: PodKind, template: Template) -> Wishes:
        """Return the wishes of a kind on nodes of a template."""
        assert kind.shape is not None  # pods that already exist aren't placed again
        key = template, kind.amounts, tuple(needs_of(kind.shape, template).requests.items())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Wishes(kind, template, self.scoring)
        return found
