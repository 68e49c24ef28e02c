"""Rules between pods: the pods on a node that a term of (anti-)affinity or spread selects.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/{types.go,plugins/interpodaffinity/filtering.go}
@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from dra_planner.allocation.node.selectors import labels_match
from dra_planner.model import (
    LabelSelector,
    PodAffinityTerm,
    Requirement,
    Shape,
    TopologySpreadConstraint,
)
from dra_planner.records import equality


@equality(unhashed=("labels",))
class PodView(Struct, frozen=True):
    """The properties of a pod that other pods' rules read: its namespace, its labels, and its own
    anti-affinity.
    """

    namespace: str
    labels: Mapping[str, str]
    anti_affinity: tuple[PodAffinityTerm, ...] = ()

    @classmethod
    def of(cls, shape: Shape) -> PodView:
        return cls(shape.namespace, shape.labels, shape.pod.pod_anti_affinity)


def term_selects(
    term: PodAffinityTerm, owner: PodView, pod: PodView, namespaces: Namespaces
) -> bool:
    """Return whether a term of `owner` selects a pod."""
    if not _namespace_selected(term, owner, pod, namespaces):
        return False
    return labels_match(
        _with_label_keys(term.label_selector, term.match_label_keys, owner.labels), pod.labels
    )


def spread_selects(constraint: TopologySpreadConstraint, owner: PodView, pod: PodView) -> bool:
    """Return whether a pod counts for a topology spread constraint of `owner`, which counts only
    pods in the owner's namespace.
    """
    if owner.namespace != pod.namespace:
        return False
    selector = _with_label_keys(
        constraint.label_selector, constraint.match_label_keys, owner.labels
    )
    return labels_match(selector, pod.labels)


Namespaces = Mapping[str, Mapping[str, str]]
"""Labels of namespaces by name, for terms that select namespaces by label."""


def _namespace_selected(
    term: PodAffinityTerm, owner: PodView, pod: PodView, namespaces: Namespaces
) -> bool:
    if pod.namespace in term.namespaces:
        return True
    if term.namespace_selector is not None:
        return labels_match(term.namespace_selector, namespaces.get(pod.namespace, {}))
    return not term.namespaces and pod.namespace == owner.namespace


def _with_label_keys(
    selector: LabelSelector | None, keys: tuple[str, ...], labels: Mapping[str, str]
) -> LabelSelector | None:
    if selector is None or not keys:
        return selector
    extra = tuple(Requirement(key, "In", (labels[key],)) for key in keys if key in labels)
    return LabelSelector(selector.requirements + extra)


@equality(unhashed=("namespaces",))
class Sight(Struct, frozen=True):
    """The pods to which rules of other pods in the demand refer.

    Other pods don't affect the key of a node's state.
    """

    watchers: tuple[tuple[PodView, PodAffinityTerm | TopologySpreadConstraint], ...] = ()
    namespaces: Namespaces = {}

    def notices(self, pod: PodView) -> bool:
        """Return whether the pod can affect a later pod."""
        if pod.anti_affinity:
            return True
        return any(
            term_selects(term, owner, pod, self.namespaces)
            if isinstance(term, PodAffinityTerm)
            else spread_selects(term, owner, pod)
            for owner, term in self.watchers
        )


NOTHING_SEEN = Sight()


def sight_of(shapes: Iterable[Shape], namespaces: Namespaces | None = None) -> Sight:
    """Return the facts about pods that the rules of these shapes use."""
    watchers: list[tuple[PodView, PodAffinityTerm | TopologySpreadConstraint]] = []
    for shape in shapes:
        view = PodView.of(shape)
        terms: list[PodAffinityTerm | TopologySpreadConstraint] = [
            *shape.pod.pod_affinity,
            *shape.pod.pod_anti_affinity,
            *(c for c in shape.pod.topology_spread if c.when_unsatisfiable == "DoNotSchedule"),
        ]
        watchers += [(view, term) for term in terms]
    return Sight(tuple(watchers), dict(namespaces or {}))
