"""Pods that name a class, a queue, or an object of their namespace that nothing declares."""

from __future__ import annotations

from dra_planner.plan.hindrances.queues import find_queue_faults
from dra_planner.plan.hindrances.references import find_missing_classes, find_missing_objects
from dra_policies.rules.hindrances import tell_of_clusters
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="reference-not-found",
    says="The manifests lack an object that decides whether pods are admitted.",
    why="The API server rejects a pod whose PriorityClass or RuntimeClass doesn't exist. Kueue "
    "never admits a workload "
    "whose queue or flavor doesn't exist.",
    fix="Add the manifest of the object, or correct its name.",
    level="advisory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/",
    check=tell_of_clusters(
        "reference-not-found", find_missing_classes, find_missing_objects, find_queue_faults
    ),
)
