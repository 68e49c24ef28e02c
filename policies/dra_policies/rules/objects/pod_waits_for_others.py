"""Pods for another scheduler, and pods that stay pending until a scheduling gate is removed."""

from __future__ import annotations

from dra_planner.plan.blockers.queueing.other_components import find_waits_for_others
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="pod-waits-for-others",
    description="A pod has a scheduling gate or uses another scheduler.",
    why="The default scheduler ignores pods with a scheduling gate or another scheduler's "
    "name, so the plan can't determine where they run.",
    fix="Remove schedulingGates and schedulerName, or ignore this finding if another scheduler "
    "schedules the pod.",
    level="advisory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/",
    check=cluster_check("pod-waits-for-others", find_waits_for_others),
)
