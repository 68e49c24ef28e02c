"""Apply guards to pods, like the admission policy that changes each pod of a steered workload."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from dra_planner.clouds import POOL
from dra_planner.model import (
    OF_A_GUARD,
    Demand,
    Guards,
    LabelSelector,
    PodAffinityTerm,
    PodSpec,
    PreferredPods,
    Requirement,
    Shape,
    SteerRule,
    TopologySpreadConstraint,
)

HOSTNAME: Final = "kubernetes.io/hostname"
NEAR_OTHERS: Final = PreferredPods(
    100,
    PodAffinityTerm(
        topology_key=HOSTNAME, label_selector=LabelSelector(), namespace_selector=LabelSelector()
    ),
)
"""Preferred affinity to every pod, so that the node with the most pods has the highest score."""
NO_SPREAD: Final = TopologySpreadConstraint(
    max_skew=1, topology_key=POOL, when_unsatisfiable="ScheduleAnyway"
)
"""A constraint with which all nodes of a pool have the same score. It replaces the default spread
over hosts and zones.
"""


def guard_demand(demand: Demand, guards: Guards) -> Demand:
    """Return the demand with the guards applied to its pods. Shapes keep their IDs."""
    return replace(demand, shapes=tuple(_guard_shape(shape, guards) for shape in demand.shapes))


def _guard_shape(shape: Shape, guards: Guards) -> Shape:
    rule = None if shape.per_node else guards.rule_for(shape)
    if rule is None:
        return shape
    return replace(
        shape,
        labels={**shape.labels, **rule.labels},
        pod=guard_pod(shape.pod, rule, packs=guards.packs),
    )


def guard_pod(pod: PodSpec, rule: SteerRule, *, packs: bool) -> PodSpec:
    """Return a pod that uses only nodes of the rule's pool.

    It spreads with the other pods of the rule or, with `packs`, prefers the fullest node.
    """
    steered = replace(
        pod,
        node_selector={**pod.node_selector, POOL: rule.pool},
        selected_by={**pod.selected_by, POOL: OF_A_GUARD},
    )
    if rule.spread:
        return replace(steered, topology_spread=(*pod.topology_spread, even_spread(rule)))
    if not packs:
        return steered
    return replace(
        steered,
        preferred_pods=(*pod.preferred_pods, NEAR_OTHERS),
        topology_spread=pod.topology_spread or (NO_SPREAD,),
    )


def even_spread(rule: SteerRule) -> TopologySpreadConstraint:
    """Return the constraint that allows a pod only on nodes with the fewest pods of its rule.

    Nodes that don't accept new pods are ignored, so that draining a node doesn't block the other
    nodes.
    """
    return TopologySpreadConstraint(
        max_skew=1,
        topology_key=HOSTNAME,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(
            tuple(Requirement(key, "In", (value,)) for key, value in rule.labels.items())
        ),
        node_taints_policy="Honor",
    )
