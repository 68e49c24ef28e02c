"""Uncertain facts of a prediction, checked again before they exclude a pod.

A node's memory is a conservative estimate, and the cluster sets the values of some labels. If only
such an uncertainty excludes a pod from a node, the answer is *undecided*. Proofs use a node's
maximum resources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import (
    NodeState,
    Placement,
    Refusal,
    Undecided,
    open_offer,
    place,
    sight_of,
)
from dra_planner.allocation.node.filters import HOSTNAME, Misfit
from dra_planner.allocation.node.pod_rules import Sight
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.verdicts import Answer
from dra_planner.model import Demand, DeviceClass, NodeSelector, NodeSelectorTerm, PodSpec, Shape
from dra_planner.offers import Offer
from dra_planner.releases import Features
from dra_planner.sizing.topology import ZONES


class DoubtfulPlace(Struct):
    """Calls `place`, and calls it again without an uncertain fact that determines the first answer.

    `open` creates the nodes.
    """

    _offers: dict[Template, Offer] = {}
    # templates with an estimated resource or an uncertain label
    _doubtful: set[Template] = set()
    _generous: dict[Template, Template] = {}
    _loosened: dict[tuple[str, Template], Shape] = {}

    def open(
        self,
        offer: Offer,
        classes: Mapping[str, DeviceClass],
        features: Features,
        demand: Demand,
        sight: Sight | None = None,
    ) -> tuple[NodeState, NodeState]:
        """Return an offer's node as estimated, and with its maximum resources.

        Both are equal if the node has no estimates. `sight` are the pods' facts that other pods'
        rules use (default: all facts that this demand uses).
        """
        sight = sight_of(demand.shapes, demand.namespaces) if sight is None else sight
        state = open_offer(offer, classes, features, sight)
        self._offers[state.template] = offer
        most = {
            name: amount
            for name, amount in offer.at_most.items()
            if amount > offer.node.allocatable.get(name, 0)
        }
        if not most and not offer.unknown_labels:
            return state, state
        node = replace(offer.node, allocatable={**offer.node.allocatable, **most})
        generous = (
            open_offer(replace(offer, node=node), classes, features, sight) if most else state
        )
        self._offers[generous.template] = offer
        self._doubtful.add(state.template)
        self._generous[state.template] = generous.template
        return state, generous

    def __call__(self, shape: Shape, node: NodeState) -> Answer:
        """Return the answer of `place`, or *cannot tell* if only an uncertain fact excludes the
        pod.
        """
        offer = self._offers.get(node.template)
        label = "" if offer is None else self.missing_label(shape, offer)
        if offer is not None and label:
            if offer.is_unknown_label(label):
                return Undecided(shape, node, "label", details=(label,))
            return Refusal(shape, node, "filter", misfit=Misfit("topology-label", label=label))
        verdict = place(shape, node)
        if (
            not isinstance(verdict, Refusal)
            or verdict.misfit is None
            or node.template not in self._doubtful
        ):
            return verdict
        if verdict.misfit.filter not in ("resources", "node-selector"):
            return verdict
        loosened = self._loosen(shape, node.template)
        again = place(loosened, node.on_template(self._generous[node.template]))
        if isinstance(again, Refusal):
            # an uncertain label doesn't exclude the pod, but another requirement does
            key = verdict.misfit.label.partition("=")[0]
            if key in ZONES and loosened is not shape:
                return place(loosened, node)
            is_unknown = key == HOSTNAME and offer is not None and offer.is_unknown_label(key)
            return replace(verdict, misfit=replace(verdict.misfit, is_unknown=is_unknown))
        if verdict.misfit.filter == "resources" and isinstance(again, Placement):
            return Undecided(
                shape,
                node,
                "estimate",
                details=tuple(name for name, _, _ in verdict.misfit.shortages),
            )
        labels = tuple(sorted(_keys(shape.pod) - _keys(loosened.pod)))
        return Undecided(shape, node, "label", details=labels) if labels else again

    @staticmethod
    def missing_label(shape: Shape, offer: Offer) -> str:
        """Return the first label that the pod's rules between pods need on its node, but that nodes
        may not have.

        Source:
        kubernetes/kubernetes:pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}/filtering.go
        @v1.36.3: a node without it is rejected.
        """
        keys = [
            each.topology_key
            for each in shape.pod.topology_spread
            if each.when_unsatisfiable == "DoNotSchedule"
        ]
        keys += [term.topology_key for term in shape.pod.pod_affinity]
        carried = {*offer.node.meta.labels, HOSTNAME, *(ZONES if offer.zones else ())}
        return next((key for key in keys if key not in carried), "")

    def _loosen(self, shape: Shape, template: Template) -> Shape:
        """Return the shape without its requirements for labels whose values are only known at run
        time.
        """
        key = (shape.id, template)
        if key not in self._loosened:
            offer = self._offers[template]
            pod = without_unknown_labels(shape.pod, offer)
            self._loosened[key] = (
                shape
                if pod == shape.pod
                else replace(shape, id=f"{shape.id}~{offer.name}", pod=pod)
            )
        return self._loosened[key]


def without_unknown_labels(pod: PodSpec, offer: Offer) -> PodSpec:
    """Return a pod without its requirements for labels whose values are known only at run time.
    Requirements for zones that none of the nodes can be in remain.
    """
    known = {
        key: value
        for key, value in pod.node_selector.items()
        if not offer.is_unknown_label(key) or _is_elsewhere(key, (value,), offer)
    }
    affinity = pod.node_affinity
    if affinity is not None:
        terms = tuple(
            NodeSelectorTerm(
                tuple(
                    each
                    for each in term.match_expressions
                    if not offer.is_unknown_label(each.key)
                    or (each.operator == "In" and _is_elsewhere(each.key, each.values, offer))
                ),
                term.match_fields,
            )
            for term in affinity.terms
        )
        free = any(
            not term.match_expressions
            and not term.match_fields
            and (before.match_expressions or before.match_fields)
            for term, before in zip(terms, affinity.terms, strict=True)
        )
        affinity = None if free else NodeSelector(terms)
    return replace(pod, node_selector=known, node_affinity=affinity)


def _is_elsewhere(key: str, values: Collection[str], offer: Offer) -> bool:
    """Return whether the values of a label are zones, and none of them is a zone of the nodes."""
    return key in ZONES and bool(offer.zones) and set(offer.zones).isdisjoint(values)


def _keys(pod: PodSpec) -> set[str]:
    terms = pod.node_affinity.terms if pod.node_affinity is not None else ()
    return {*pod.node_selector, *(each.key for term in terms for each in term.match_expressions)}
