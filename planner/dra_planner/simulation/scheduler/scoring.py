"""The scoring plugins of a profile, with their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dra_planner.allocation import Placement
from dra_planner.model import Node
from dra_planner.releases import Features
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.pod_requests import PodAmounts
from dra_planner.simulation.cluster.stages import NodeLoad
from dra_planner.simulation.plugins import PLUGINS, DomainScore, Plugin, PopulationScore
from dra_planner.simulation.scheduler.profile import Profile

_NO_DOMAINS: tuple[int, DomainScore | None] = (0, None)
_NO_POPULATION: tuple[int, PopulationScore | None] = (0, None)

LoadScorers = tuple[tuple[int, Callable[[NodeLoad], int]], ...]
"""Functions that score loads, with their weights."""


class Scoring:
    """The scoring functions, grouped by the facts on which they depend (see `plugin.py`).

    `compared` contains the weights and normalizations of the raw scores, first of `by_node`, then
    of `by_placement`. `domains` is the plugin that counts pods by domain, and `population` is the
    plugin that counts preferred pods.
    """

    def __init__(self, profile: Profile, plugins: Sequence[Plugin] = PLUGINS) -> None:
        weighed = [(profile.weights.get(each.name, each.weight), each) for each in plugins]
        used = [(weight, each) for weight, each in weighed if weight]
        self._profile = profile
        self._by_load = [
            (weight, each.by_load) for weight, each in used if each.by_load is not None
        ]
        on_node = [
            (weight, each, each.by_node) for weight, each in used if each.by_node is not None
        ]
        on_devices = [
            (weight, each, each.by_placement)
            for weight, each in used
            if each.by_placement is not None
        ]
        self.by_node: list[Callable[[PodKind, Node], int]] = [score for _, _, score in on_node]
        self.by_placement: list[Callable[[Placement], int]] = [score for _, _, score in on_devices]
        raw = [(weight, each) for weight, each, _ in on_node] + [
            (weight, each) for weight, each, _ in on_devices
        ]
        self.compared = [(weight, each.normalize) for weight, each in raw]
        by_domain = [
            (weight, each.by_domain) for weight, each in used if each.by_domain is not None
        ]
        self.domain_weight, self.domains = next(iter(by_domain), _NO_DOMAINS)
        by_population = [
            (weight, each.by_population) for weight, each in used if each.by_population is not None
        ]
        self.population_weight, self.population = next(iter(by_population), _NO_POPULATION)

    def load_scorers(self, amounts: PodAmounts, node: Node, features: Features) -> LoadScorers:
        """Return the functions that score loads of nodes like this one, with their weights."""
        made = [
            (weight, make(amounts, node, features, self._profile)) for weight, make in self._by_load
        ]
        return tuple([(weight, score) for weight, score in made if score is not None])

    def compare(self, raw: Sequence[Sequence[int]]) -> list[int]:
        """Return the total of the raw scores for each feasible node."""
        totals = [0] * len(raw)
        for (weight, normalize), column in zip(self.compared, zip(*raw, strict=True), strict=True):
            add_scores(totals, weight, normalize(column))
        return totals


def add_scores(totals: list[int], weight: int, scores: Iterable[int]) -> None:
    """Add weighted scores to totals, in place."""
    totals[:] = [total + weight * score for total, score in zip(totals, scores, strict=True)]
