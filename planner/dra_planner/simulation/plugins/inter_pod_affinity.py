"""InterPodAffinity: pods that must, must not, or prefer to run next to other pods.

The allocator applies anti-affinity on the node itself. This module handles affinity, and
anti-affinity in wider topologies. Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring}.go
@v1.34.9 to v1.37.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_planner.allocation import Answer, Refusal
from dra_planner.allocation.node.filters import HOSTNAME, Misfit
from dra_planner.simulation.cluster.domain_counts import counter_of
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeStage, Population
from dra_planner.simulation.plugins.plugin import MAX_SCORE, ClusterView, Plugin, Reject
from dra_planner.simulation.scheduler.pod_rules import Neighbours, PodRules


def filter_neighbours(_kind: PodKind, rules: PodRules, view: ClusterView) -> Reject | None:
    """Return a filter that rejects nodes by required rules, computed for the current nodes."""
    if not (rules.beside or rules.apart):
        return None
    population = view.population
    beside = [(each.key, counter_of(each.key, each.kinds, population)) for each in rules.beside]
    apart = [counter_of(each.key, each.kinds, population) for each in rules.apart]
    is_first = rules.may_be_first and not any(
        stage.count(each.kinds) and stage.label(each.key) is not None
        for each in rules.beside
        for stage, _ in population
    )

    def misfit_of(stage: NodeStage) -> Misfit | None:
        for key, count in beside:
            if stage.label(key) is None:
                return Misfit("topology-label", label=key)
            if not (is_first or count(stage)):
                return Misfit("affinity", label=key)
        return Misfit("anti-affinity") if any(count(stage) for count in apart) else None

    def reject(stage: NodeStage, answer: Answer) -> Refusal | None:
        misfit = misfit_of(stage)
        return (
            None if misfit is None else Refusal(answer.shape, stage.state, "filter", misfit=misfit)
        )

    return reject


class InterPodPreferences:
    """Scores nodes by the preferred pods in their domains, from 0 (lowest raw score) to 100
    (highest).
    """

    @staticmethod
    def is_near(rules: PodRules) -> bool:
        """Return True if only pods on the same node count."""
        return all(each.key == HOSTNAME for each in rules.preferred)

    @staticmethod
    def count(terms: Sequence[Neighbours], stage: NodeStage) -> int:
        """Return the raw score of a node for pods on the node itself."""
        if stage.label(HOSTNAME) is None:
            return 0
        return sum([stage.count(each.kinds) * each.weight for each in terms])

    @staticmethod
    def normalize(raw: Sequence[int]) -> list[int]:
        """Return the scores of the feasible nodes."""
        least, most = min(raw, default=0), max(raw, default=0)
        if most == least:
            return [0] * len(raw)
        return [int(float(MAX_SCORE) * ((each - least) / (most - least))) for each in raw]

    @classmethod
    def score(
        cls, rules: PodRules, everywhere: Population, feasible: Iterable[NodeStage]
    ) -> list[int]:
        """Return the score of each feasible stage."""
        counts = [
            (counter_of(each.key, each.kinds, everywhere), each.weight) for each in rules.preferred
        ]
        return cls.normalize(
            [sum(count(stage) * weight for count, weight in counts) for stage in feasible]
        )


PLUGIN = Plugin(
    name="InterPodAffinity",
    order=120,
    rejects=frozenset({"affinity", "anti-affinity"}),
    helped=frozenset({"affinity", "anti-affinity"}),
    is_needed=lambda rules: bool(rules.beside or rules.apart),
    filter=filter_neighbours,
    weight=2,
    by_population=InterPodPreferences(),
)
