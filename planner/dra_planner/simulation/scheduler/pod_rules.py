"""Compiled rules between pods: for each kind, the kinds to which it refers, and the node label that
defines the topology.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/{interpodaffinity,podtopologyspread}/
{filtering,scoring}.go and plugins/helper/spread.go (default spread) @v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.allocation.node.pod_rules import Namespaces, PodView, spread_selects, term_selects
from dra_planner.allocation.node.selectors import node_matches, untolerated_taint
from dra_planner.model import Node, PodAffinityTerm, TopologySpreadConstraint
from dra_planner.simulation.cluster.pod_kinds import PodKind

KindSet = frozenset[int]
"""Numbers of kinds."""

_REQUIRED_AFFINITY_WEIGHT = 1  # hardPodAffinityWeight
_BY_DEFAULT = (
    TopologySpreadConstraint(
        max_skew=3, topology_key=HOSTNAME, when_unsatisfiable="ScheduleAnyway"
    ),
    TopologySpreadConstraint(
        max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable="ScheduleAnyway"
    ),
)


class Neighbours(Struct, frozen=True):
    """Kinds that count on nodes with the same value of a label, and their weights."""

    key: str
    kinds: KindSet
    weight: int = 0


class Spread(Struct, frozen=True):
    """A spread constraint. `counts_itself` is True if it also counts the pod itself."""

    constraint: TopologySpreadConstraint
    kinds: KindSet
    counts_itself: bool


class PodRules(Struct, frozen=True, kw_only=True):
    """The rules of one kind of pods: required, forbidden, and preferred places.

    With `needs_all_labels`, nodes without the labels of the soft constraints get no score.
    """

    beside: tuple[Neighbours, ...] = ()
    may_be_first: bool = False
    apart: tuple[Neighbours, ...] = ()
    hard_spread: tuple[Spread, ...] = ()
    soft_spread: tuple[Spread, ...] = ()
    needs_all_labels: bool = True
    preferred: tuple[Neighbours, ...] = ()

    def counts_node(self, node: Node) -> bool:
        """Return True if a node counts for the score of soft constraints. If required, it must have
        their labels.
        """
        labels = node.meta.labels
        return not self.needs_all_labels or all(
            each.constraint.topology_key in labels for each in self.soft_spread
        )

    @property
    def noticed(self) -> KindSet:
        """The kinds that the rules refer to."""
        spreads = (each.kinds for each in (*self.hard_spread, *self.soft_spread))
        neighbours = (each.kinds for each in (*self.beside, *self.apart, *self.preferred))
        return frozenset[int]().union(*spreads, *neighbours)


def includes(spread: Spread, kind: PodKind, node: Node) -> bool:
    """Return True if a node counts for a constraint of a kind, by its policies for node affinity
    and taints.
    """
    constraint = spread.constraint
    if constraint.node_affinity_policy == "Honor" and not _is_eligible(kind, node):
        return False
    return (
        constraint.node_taints_policy != "Honor"
        or untolerated_taint(node.taints, kind.spec.tolerations) is None
    )


def _is_eligible(kind: PodKind, node: Node) -> bool:
    """Return True if a node matches the node selector and the required node affinity of
    such pods.
    """
    labels, affinity = node.meta.labels, kind.spec.node_affinity
    if any(labels.get(key) != value for key, value in kind.spec.node_selector.items()):
        return False
    return affinity is None or node_matches(affinity, node)


def compile_rules(kinds: Sequence[PodKind], namespaces: Namespaces) -> tuple[PodRules, ...]:
    """Return the rules of each kind, by its number."""
    specs = [kind.spec for kind in kinds]
    minding = [
        kind
        for kind, spec in zip(kinds, specs, strict=True)
        if spec.pod_affinity or spec.pod_anti_affinity or spec.preferred_pods
    ]
    return tuple(_rules(kind, kinds, minding, namespaces) for kind in kinds)


def _rules(
    kind: PodKind, kinds: Sequence[PodKind], minding: Sequence[PodKind], namespaces: Namespaces
) -> PodRules:
    if kind.shape is None:
        return PodRules()
    spec, view = kind.spec, kind.view
    by_default = not spec.topology_spread
    own = frozenset(
        each.number
        for each in kinds
        if each.siblings is not None and each.siblings == kind.siblings
    )
    soft = tuple(Spread(each, own, True) for each in _BY_DEFAULT) if by_default and own else ()
    spreads = [(each, _counted(each, view, kinds)) for each in spec.topology_spread]
    hard = tuple(
        Spread(each, counted, kind.number in counted)
        for each, counted in spreads
        if each.when_unsatisfiable == "DoNotSchedule"
    )
    soft += tuple(
        Spread(each, counted, kind.number in counted)
        for each, counted in spreads
        if each.when_unsatisfiable == "ScheduleAnyway"
    )
    together = frozenset(
        each.number
        for each in kinds
        if spec.pod_affinity
        and all(term_selects(term, view, each.view, namespaces) for term in spec.pod_affinity)
    )
    return PodRules(
        beside=tuple(Neighbours(term.topology_key, together) for term in spec.pod_affinity),
        may_be_first=kind.number in together,
        apart=tuple(_apart(kind, kinds, minding, namespaces)),
        hard_spread=hard,
        soft_spread=soft,
        needs_all_labels=not by_default,
        preferred=_merged(_preferred(kind, kinds, minding, namespaces)),
    )


def _counted(
    constraint: TopologySpreadConstraint, view: PodView, kinds: Iterable[PodKind]
) -> KindSet:
    return frozenset(each.number for each in kinds if spread_selects(constraint, view, each.view))


def _selected(
    term: PodAffinityTerm, owner: PodView, kinds: Iterable[PodKind], namespaces: Namespaces
) -> KindSet:
    return frozenset(
        each.number for each in kinds if term_selects(term, owner, each.view, namespaces)
    )


def _apart(
    kind: PodKind, kinds: Sequence[PodKind], minding: Iterable[PodKind], namespaces: Namespaces
) -> Iterable[Neighbours]:
    """Yield the rules that exclude the kind from a domain.

    The allocator handles rules for the node itself.
    """
    for term in kind.spec.pod_anti_affinity:
        if term.topology_key != HOSTNAME:
            yield Neighbours(term.topology_key, _selected(term, kind.view, kinds, namespaces))
    for other in minding:
        for term in other.spec.pod_anti_affinity:
            if term.topology_key != HOSTNAME and term_selects(
                term, other.view, kind.view, namespaces
            ):
                yield Neighbours(term.topology_key, frozenset({other.number}))


def _merged(terms: Iterable[Neighbours]) -> tuple[Neighbours, ...]:
    """Return the terms with the sum of the weights of each kind.

    Kinds with equal weights are combined into one term, so that pods are counted once.
    """
    weights: dict[tuple[str, int], int] = {}
    for term in terms:
        for kind in term.kinds:
            weights[term.key, kind] = weights.get((term.key, kind), 0) + term.weight
    merged: dict[tuple[str, int], list[int]] = {}
    for (key, kind), weight in weights.items():
        merged.setdefault((key, weight), []).append(kind)
    return tuple(
        Neighbours(key, frozenset(kinds), weight) for (key, weight), kinds in merged.items()
    )


def _preferred(
    kind: PodKind, kinds: Sequence[PodKind], minding: Iterable[PodKind], namespaces: Namespaces
) -> Iterable[Neighbours]:
    for each in kind.spec.preferred_pods:
        selected = _selected(each.term, kind.view, kinds, namespaces)
        yield Neighbours(each.term.topology_key, selected, each.weight)
    for other in minding:
        weighed = [(each.term, each.weight) for each in other.spec.preferred_pods]
        weighed += [(term, _REQUIRED_AFFINITY_WEIGHT) for term in other.spec.pod_affinity]
        for term, weight in weighed:
            if term_selects(term, other.view, kind.view, namespaces):
                yield Neighbours(term.topology_key, frozenset({other.number}), weight)
