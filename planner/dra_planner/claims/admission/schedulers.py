"""Schedulers other than kube-scheduler that pods name."""

from __future__ import annotations

from typing import Final

from dra_planner.manifests import Manifests
from dra_planner.manifests.workloads.queue_labels import KAI, VOLCANO
from dra_planner.model import PodSpec, Workload

TITLES: Final = {KAI: "KAI", VOLCANO: "Volcano"}
_DEFAULT_SCHEDULERS: Final = frozenset(
    {"", "default-scheduler", "gke.io/optimize-utilization-scheduler"}
)
"""The schedulers of managed clusters whose rules are simulated.

GKE's profile differs only in scores. Source of GKE's profile: "Configure GKE cluster autoscaling
profiles" (cloud.google.com/kubernetes-engine/docs).
"""
_VOLCANO_GROUP: Final = "batch.volcano.sh/"


def other_scheduler(workload: Workload, spec: PodSpec) -> str:
    """Return the name of the scheduler of a workload's pods, or "" if kube-scheduler places
    them.
    """
    name = spec.scheduler_name
    if name not in _DEFAULT_SCHEDULERS:
        return name
    # Volcano is the default scheduler of its jobs
    return VOLCANO if workload.api_version.startswith(_VOLCANO_GROUP) else ""


def lacks_other_schedulers(manifests: Manifests) -> bool:
    """Return whether the cluster certainly doesn't run any scheduler except kube-scheduler.

    Configuration files define the names that a scheduler serves, so every workload whose name
    contains "scheduler" might be the scheduler.
    """
    might_run = any("scheduler" in workload.meta.name for workload in manifests.workloads)
    return manifests.is_complete and not might_run
