"""Pods whose manifests name a node that the plan doesn't contain."""

from __future__ import annotations

from dra_planner.plan.blockers.unread_objects import find_pods_on_unknown_nodes
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="node-name-set",
    description="A pod's manifest names a node that isn't in the plan.",
    why="A pod with spec.nodeName bypasses the scheduler, so the plan can't determine whether the "
    "pod runs.",
    fix="Remove spec.nodeName, so that the scheduler chooses a node.",
    level="advisory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
    check=cluster_check("node-name-set", find_pods_on_unknown_nodes),
)
