"""Nodes of a snapshot that differ only in their names.

They share one state, so that they are evaluated once. Only differences that matter for the demand's
pods count: labels in rules, results of selectors, and attributes in constraints.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from msgspec import Struct

from dra_planner.allocation import NodeState
from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.allocation.search.constraints import lookup_attribute
from dra_planner.allocation.search.devices import Candidate
from dra_planner.allocation.search.selection import outcomes
from dra_planner.model import DeviceClass, PodSpec, Unknown
from dra_planner.simulation.cluster.nodes import ZONE
from dra_planner.simulation.cluster.pod_kinds import PodKind


class Distinctions(Struct, frozen=True):
    """Facts that distinguish nodes: labels, names, selectors of devices, and attributes in
    constraints.
    """

    labels: frozenset[str]
    names: bool
    selectors: tuple[str, ...]
    attributes: tuple[str, ...]

    @classmethod
    def of(
        cls, kinds: Sequence[PodKind], classes: Iterable[DeviceClass], labels: Iterable[str] = ()
    ) -> Distinctions:
        """Return the facts that pods of these kinds distinguish, including `labels`, which plugins
        always read.
        """
        specs = [kind.spec for kind in kinds]
        claims = [
            claim.spec for kind in kinds if kind.shape is not None for claim in kind.shape.claims
        ]
        selectors = [each for own in classes for each in own.selectors]
        for request in (request for claim in claims for request in claim.requests):
            for way in request.alternatives:
                selectors += way.selectors
        constraints = [each for claim in claims for each in claim.constraints]
        names = {
            name
            for each in constraints
            for name in (each.match_attribute, each.distinct_attribute)
            if name
        }
        return cls(
            labels=frozenset({ZONE, *labels}.union(*map(_labels_read, specs))),
            names=any(_reads_name(kind.spec) for kind in kinds if kind.shape is not None),
            selectors=tuple(sorted({each.expression for each in selectors})),
            attributes=tuple(sorted(names)),
        )


def share_states(states: Sequence[NodeState], distinctions: Distinctions) -> list[NodeState]:
    """Return the states, in which all twins have the state of the first one."""
    first: dict[Hashable, NodeState] = {}
    # by the identity of the state, because nodes of one pool already share their state
    twin: dict[int, NodeState] = {}
    for state in states:
        if id(state) not in twin:
            twin[id(state)] = first.setdefault(_signature(state, distinctions), state)
    return [twin[id(state)] for state in states]


def _labels_read(spec: PodSpec) -> set[str]:
    """Return the node labels whose values matter for a pod. Excludes the host name as a
    topology.
    """
    required = spec.node_affinity.terms if spec.node_affinity is not None else ()
    terms = (*required, *(each.term for each in spec.preferred_nodes))
    keys = {*spec.node_selector, *(each.key for term in terms for each in term.match_expressions)}
    near = (
        *spec.pod_affinity,
        *spec.pod_anti_affinity,
        *(each.term for each in spec.preferred_pods),
    )
    topologies = {
        *(each.topology_key for each in near),
        *(each.topology_key for each in spec.topology_spread),
    }
    return keys | (topologies - {HOSTNAME})


def _reads_name(spec: PodSpec) -> bool:
    required = spec.node_affinity.terms if spec.node_affinity is not None else ()
    terms = (*required, *(each.term for each in spec.preferred_nodes))
    return bool(spec.node_name) or any(term.match_fields for term in terms)


def _signature(state: NodeState, distinctions: Distinctions) -> Hashable:
    """Return the properties that twins have in common. Nodes that share devices or claims with
    other nodes have no twins.
    """
    template, node = state.template, state.node
    private = all(each.slice.node_name == node.name for each in template.candidates)
    if not private or state.claims or node.unschedulable or distinctions.names:
        return id(template)
    labels = node.meta.labels
    return (
        tuple(sorted((key, labels[key]) for key in distinctions.labels if key in labels)),
        HOSTNAME in labels,
        tuple(sorted(node.allocatable.items())),
        node.taints,
        (state.used, state.taken, state.shares, state.ports, state.pods),
        tuple(
            (pool.id.driver, pool.invalid, pool.incomplete, repr(pool.counter_sets))
            for pool in template.pools
        ),
        template.pool_bits,
        _devices(template.candidates, state, distinctions),
    )


def _devices(
    candidates: Sequence[Candidate], state: NodeState, distinctions: Distinctions
) -> Hashable:
    values: dict[str, dict[str, int]] = {name: {} for name in distinctions.attributes}
    made: list[Hashable] = []
    for each, answers in zip(
        candidates, outcomes(distinctions.selectors, candidates, state.features), strict=True
    ):
        equal: list[Hashable] = []
        for name in distinctions.attributes:
            value = lookup_attribute(each, name)
            place = values[name].setdefault(repr(value), len(values[name]))
            equal.append(
                repr(value) if value is None or isinstance(value, tuple | Unknown) else place
            )
        device = each.device
        made.append(
            (
                each.id.device,
                each.reachable,
                each.shareable,
                device.taints,
                repr(device.capacity) if device.capacity else "",
                repr(device.consumes_counters) if device.consumes_counters else "",
                device.binds_to_node,
                bool(device.binding_conditions),
                tuple(equal),
                answers,
            )
        )
    return tuple(made)
