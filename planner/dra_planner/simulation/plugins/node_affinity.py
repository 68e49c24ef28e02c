"""NodeAffinity: required terms exclude nodes, and preferred terms add their weights to the score.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go @v1.34.9 to
v1.37.1.
"""

from __future__ import annotations

from dra_planner.allocation.node.selectors import term_matches
from dra_planner.model import Node
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.plugins.plugin import Plugin


def sum_preferences(kind: PodKind, node: Node) -> int:
    """Return the sum of the weights of the preferred terms that match the node."""
    return sum(each.weight for each in kind.spec.preferred_nodes if term_matches(each.term, node))


PLUGIN = Plugin(
    name="NodeAffinity",
    order=40,
    rejects=frozenset({"node-selector"}),
    weight=2,
    by_node=sum_preferences,
)
