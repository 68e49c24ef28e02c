"""Rules between pods that span nodes: required (anti-)affinity and topology spread.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/plugins/{interpodaffinity,podtopologyspread}/
filtering.go @v1.36.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dra_planner.allocation.interpod import Namespaces, PodView, spread_selects, term_selects
from dra_planner.allocation.node_filters import Misfit
from dra_planner.allocation.node_selectors import node_matches, untolerated_taint
from dra_planner.allocation.state import NodeState
from dra_planner.model import Node, PodAffinityTerm, Shape, TopologySpreadConstraint

Domain = tuple[str, str]  # label and its value


@dataclass(slots=True)
class Surroundings:
    """What of the cluster matters to one pod: where it must not run, where it must, and how pods are spread."""

    shape: Shape
    forbidden: set[Domain] = field(default_factory=set)
    required: list[set[Domain]] = field(default_factory=list)
    first_of_its_kind: bool = False
    spread: list[tuple[TopologySpreadConstraint, Counter[str], bool]] = field(default_factory=list)

    def reject(self, node: Node) -> Misfit | None:
        """Return what keeps the pod off the node, or None."""
        labels = node.meta.labels
        for constraint, counts, counts_itself in self.spread:
            value = labels.get(constraint.topology_key)
            if value is None:
                return Misfit("spread", label=constraint.topology_key)
            domains = len(counts)
            least = min(counts.values(), default=0)
            if constraint.min_domains is not None and domains < constraint.min_domains:
                least = 0
            if counts[value] + counts_itself - least > constraint.max_skew:
                return Misfit("spread", label=constraint.topology_key)
        for term, places in zip(self.shape.pod.pod_affinity, self.required, strict=True):
            value = labels.get(term.topology_key)
            if value is None or not (self.first_of_its_kind or (term.topology_key, value) in places):
                return Misfit("affinity", label=term.topology_key)
        if any((key, labels.get(key)) == (key, value) for key, value in self.forbidden):
            return Misfit("anti-affinity")
        return None


def look_around(shape: Shape, nodes: Mapping[str, NodeState]) -> Surroundings | None:
    """Return what surrounds a pod of the shape, or None where nothing of it can matter."""
    pod = shape.pod
    spread = [c for c in pod.topology_spread if c.when_unsatisfiable == "DoNotSchedule"]
    watched = any(state.pods for state in nodes.values())
    if not (pod.pod_affinity or spread or (watched and (pod.pod_anti_affinity or _anyone_minds(nodes)))):
        return None
    view = PodView.of(shape)
    namespaces = _namespaces(nodes)
    around = Surroundings(shape, forbidden=_forbidden(view, nodes, namespaces))
    around.required = [_domains_with(term, view, nodes, namespaces) for term in pod.pod_affinity]
    around.first_of_its_kind = (
        bool(pod.pod_affinity)
        and not any(around.required)
        and all(term_selects(term, view, view, namespaces) for term in pod.pod_affinity)
    )
    around.spread = [(c, _count(c, spread, view, shape, nodes), spread_selects(c, view, view)) for c in spread]
    return around


def _anyone_minds(nodes: Mapping[str, NodeState]) -> bool:
    return any(view.anti_affinity for state in nodes.values() for view, _ in state.pods)


def _namespaces(nodes: Mapping[str, NodeState]) -> Namespaces:
    return next((state.template.sight.namespaces for state in nodes.values()), {})


def _pods(nodes: Mapping[str, NodeState]) -> Iterator[tuple[Node, PodView, int]]:
    for state in nodes.values():
        for view, count in state.pods:
            yield state.node, view, count


def _forbidden(view: PodView, nodes: Mapping[str, NodeState], namespaces: Namespaces) -> set[Domain]:
    found: set[Domain] = set()
    for node, other, _ in _pods(nodes):
        minding = [t for t in other.anti_affinity if term_selects(t, other, view, namespaces)]
        minded = [t for t in view.anti_affinity if term_selects(t, view, other, namespaces)]
        for term in (*minding, *minded):
            value = node.meta.labels.get(term.topology_key)
            if value is not None:
                found.add((term.topology_key, value))
    return found


def _domains_with(
    term: PodAffinityTerm, view: PodView, nodes: Mapping[str, NodeState], namespaces: Namespaces
) -> set[Domain]:
    return {
        (term.topology_key, node.meta.labels[term.topology_key])
        for node, other, _ in _pods(nodes)
        if term.topology_key in node.meta.labels and term_selects(term, view, other, namespaces)
    }


def _count(
    constraint: TopologySpreadConstraint,
    all_constraints: list[TopologySpreadConstraint],
    view: PodView,
    shape: Shape,
    nodes: Mapping[str, NodeState],
) -> Counter[str]:
    """Pods that count, by domain; domains that only hold nodes the pod may not use do not exist."""
    counts: Counter[str] = Counter()
    for state in nodes.values():
        labels = state.node.meta.labels
        if any(c.topology_key not in labels for c in all_constraints) or not _is_eligible(
            constraint, shape, state.node
        ):
            continue
        value = labels[constraint.topology_key]
        counts[value] += sum(n for other, n in state.pods if spread_selects(constraint, view, other))
    return counts


def _is_eligible(constraint: TopologySpreadConstraint, shape: Shape, node: Node) -> bool:
    pod = shape.pod
    if constraint.node_affinity_policy == "Honor":
        if any(node.meta.labels.get(key) != value for key, value in pod.node_selector.items()):
            return False
        if pod.node_affinity is not None and not node_matches(pod.node_affinity, node):
            return False
    return constraint.node_taints_policy != "Honor" or untolerated_taint(node.taints, pod.tolerations) is None
