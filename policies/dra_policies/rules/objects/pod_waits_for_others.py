"""Pods that another scheduler places, or that wait until somebody removes a scheduling gate."""

from __future__ import annotations

from dra_planner.plan.hindrances.others import find_waits_for_others
from dra_policies.rules.hindrances import tell_of_clusters
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="pod-waits-for-others",
    says="The default scheduler places the pods, without scheduling gates.",
    why="The scheduler ignores a pod with a scheduling gate, or with the name of another scheduler. Whether and where "
    "such a pod runs isn't known.",
    fix="Remove schedulingGates and schedulerName, or accept that somebody else decides.",
    level="advisory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/",
    check=tell_of_clusters("pod-waits-for-others", find_waits_for_others),
)
