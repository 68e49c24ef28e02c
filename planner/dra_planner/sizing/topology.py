"""Rules between pods that span nodes, which sizing by shapes doesn't evaluate.

They are reported instead of guessed. Anti-affinity on one node is evaluated by the allocator.
The result of wider rules depends on the zones of nodes and on the pod arrival order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.allocation.node.pod_rules import PodView, term_selects
from dra_planner.model import Reason, Shape, TopologySpreadConstraint, is_of_guards

ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")

RULE_BETWEEN_PODS: Final = "rule-between-pods"
"""The code of the reason of a rule that sizing doesn't evaluate."""


def unjudged_rule(shape: Shape, pods: int, zones: Collection[str]) -> Reason | None:
    """Return why it isn't known whether this number of a shape's pods satisfies their rules, or
    None if they certainly do.

    `zones` are the zones of the pools in use, empty if unknown.
    """
    view = PodView.of(shape)
    for term in shape.pod.pod_affinity:
        if pods > 1 or not term_selects(term, view, view, {}):
            return _reason("pod affinity", term.topology_key)
    for term in shape.pod.pod_anti_affinity:
        alone = pods <= 1 and term_selects(term, view, view, {})
        if term.topology_key != HOSTNAME and not alone:
            return _reason("pod anti-affinity", term.topology_key)
    for constraint in shape.pod.topology_spread:
        if not _spreads_anyway(constraint, pods, zones):
            return _reason("topology spread", constraint.topology_key)
    return None


def _spreads_anyway(
    constraint: TopologySpreadConstraint, pods: int, zones: Collection[str]
) -> bool:
    if constraint.when_unsatisfiable != "DoNotSchedule" or pods <= constraint.max_skew:
        return True
    if is_of_guards(constraint):  # for pods that are created together with the counts
        return True
    return (
        constraint.topology_key in ZONES and len(zones) == 1 and (constraint.min_domains or 1) == 1
    )


def _reason(rule: str, topology: str) -> Reason:
    return Reason(
        code=RULE_BETWEEN_PODS,
        message=f"the node counts don't account for {rule} with topology key {topology}",
        fix="use --observed with a snapshot of a cluster that has enough nodes, or raise the "
        "pool's maximum",
    )
