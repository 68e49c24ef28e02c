"""TaintToleration: rejects nodes with taints that pods don't tolerate, and prefers nodes with few
PreferNoSchedule taints.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go @v1.34.9
to v1.37.1.
"""

from __future__ import annotations

from dra_planner.allocation.node.selectors import tolerates
from dra_planner.model import Node
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.plugins.plugin import Plugin, shares_of_least


def count_unwelcome_taints(kind: PodKind, node: Node) -> int:
    """Count the PreferNoSchedule taints that no toleration for that effect (or for every effect)
    covers.
    """
    tolerations = [
        each for each in kind.spec.tolerations if each.effect in ("", "PreferNoSchedule")
    ]
    return sum(
        taint.effect == "PreferNoSchedule"
        and not any(tolerates(each, taint) for each in tolerations)
        for taint in node.taints
    )


PLUGIN = Plugin(
    name="TaintToleration",
    order=30,
    rejects=frozenset({"taint"}),
    weight=3,
    by_node=count_unwelcome_taints,
    normalize=shares_of_least,
)
