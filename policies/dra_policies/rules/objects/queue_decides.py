"""Decisions of a Kueue queue about pods. They are notes, because they aren't errors."""

from __future__ import annotations

from dra_planner.plan.blockers.queueing.admission import find_queue_faults
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="queue-decides",
    description="Kueue changes a workload's pods, or the configuration of its queue is unknown.",
    why="Kueue adds the node labels and tolerations of its flavors to pods, and admits pods "
    "only within its quotas.",
    fix="Add the queue's manifests, or do nothing if this is intended.",
    level="advisory",
    needs="pools",
    url="https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/",
    check=cluster_check("queue-decides", find_queue_faults),
)
