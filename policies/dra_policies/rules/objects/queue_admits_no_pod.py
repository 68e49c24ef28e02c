"""Workloads that Kueue never admits."""

from __future__ import annotations

from dra_planner.plan.blockers.queueing.admission import find_queue_faults
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="queue-admits-no-pod",
    description="Kueue can't admit a workload from its queue.",
    why="The workload stays suspended, or its pods stay gated.",
    fix="Request devices in a form that Kueue counts, and set a large enough quota for them in "
    "the queue.",
    level="mandatory",
    url="https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation/",
    check=planner_check("queue-admits-no-pod", find_queue_faults),
)
