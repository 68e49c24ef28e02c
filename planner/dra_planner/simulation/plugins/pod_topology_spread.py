"""PodTopologySpread: hard constraints exclude full domains, and soft constraints prefer emptier
domains.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/podtopologyspread/{filtering,scoring}.go
@v1.34.9 to v1.37.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log

from dra_planner.allocation import Answer, Refusal
from dra_planner.allocation.node.filters import HOSTNAME, Misfit
from dra_planner.model import Node
from dra_planner.simulation.cluster.domain_counts import Count, count_pods
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.soft_spread_counts import Domains
from dra_planner.simulation.cluster.stages import NodeStage, Population
from dra_planner.simulation.plugins.plugin import (
    MAX_SCORE,
    ClusterView,
    LabelledPlace,
    Place,
    Plugin,
    Reject,
)
from dra_planner.simulation.scheduler.pod_rules import PodRules, Spread, includes


def filter_spread(kind: PodKind, rules: PodRules, view: ClusterView) -> Reject | None:
    """Return a filter that rejects nodes by hard constraints, computed for the current nodes."""
    if not rules.hard_spread:
        return None
    counted = [
        _count_spread(each, kind, rules.hard_spread, view.population) for each in rules.hard_spread
    ]

    def reject(stage: NodeStage, answer: Answer) -> Refusal | None:
        for spread, count, least in counted:
            constraint = spread.constraint
            if stage.label(constraint.topology_key) is None:
                misfit = Misfit("topology-label", label=constraint.topology_key)
                return Refusal(answer.shape, stage.state, "filter", misfit=misfit)
            if count(stage) + spread.counts_itself - least > constraint.max_skew:
                misfit = Misfit("spread", label=constraint.topology_key)
                return Refusal(answer.shape, stage.state, "filter", misfit=misfit)
        return None

    return reject


def _count_spread(
    spread: Spread, kind: PodKind, beside: Sequence[Spread], population: Population
) -> tuple[Spread, Count, int]:
    """Return the count of a domain for a constraint, and the lowest count of all domains. A domain
    without eligible nodes isn't counted.
    """
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

        def count(stage: NodeStage) -> int:
            return stage.count(spread.kinds) if stage in inside else 0

    else:
        counts = count_pods(constraint.topology_key, spread.kinds, eligible)
        domains, least = len(counts), min(counts.values(), default=0)

        def count(stage: NodeStage) -> int:
            return counts.get(stage.label(constraint.topology_key), 0)

    if constraint.min_domains is not None and domains < constraint.min_domains:
        least = 0
    return spread, count, least


class SoftSpread:
    """The score of soft constraints, from 0 to 100. Emptier domains get a higher score."""

    @staticmethod
    def places(rules: PodRules, node: Node) -> tuple[LabelledPlace, ...] | None:
        """Return the places where soft constraints count pods on a node, or None if the node
        doesn't count.
        """
        if not rules.counts_node(node):
            return None
        labels = node.meta.labels
        keys = ((each.constraint.topology_key, each.kinds) for each in rules.soft_spread)
        return tuple(
            (None, kinds) if key == HOSTNAME and key in labels else (labels.get(key), None)
            for key, kinds in keys
        )

    @staticmethod
    def score(
        rules: PodRules, domains: Sequence[Domains], nodes: int, places: Sequence[Place | None]
    ) -> list[int]:
        """Return the score in each of these places, from 0 to 100.

        Emptier domains get a higher score, and a node without a place gets 0. `places` are the
        places of the feasible nodes, `nodes` is the number of feasible nodes with a place, and
        `domains` is the number of pods by domain for each soft constraint.
        """
        found = [place for place in places if place is not None]
        raw = [0.0] * len(found)
        for number, (spread, counts) in enumerate(zip(rules.soft_spread, domains, strict=True)):
            slack, values = spread.constraint.max_skew - 1, [place[number] for place in found]
            is_host = spread.constraint.topology_key == HOSTNAME
            weight = log((nodes if is_host else len(set(values))) + 2)  # weight of one pod
            raw = [
                each
                if value is None
                else each
                + ((value if isinstance(value, int) else counts.get(value, 0)) * weight + slack)
                for each, value in zip(raw, values, strict=True)
            ]
        full = [floor(each + 0.5) for each in raw]
        least, most = min(full, default=0), max(full, default=0)
        scores = [MAX_SCORE * (most + least - each) // most if most else MAX_SCORE for each in full]
        if len(found) == len(places):
            return scores
        in_turn = iter(scores)
        return [0 if place is None else next(in_turn) for place in places]


PLUGIN = Plugin(
    name="PodTopologySpread",
    order=110,
    rejects=frozenset({"spread", "topology-label"}),
    helped=frozenset({"spread"}),
    is_needed=lambda rules: bool(rules.hard_spread),
    filter=filter_spread,
    weight=2,
    by_domain=SoftSpread(),
)
