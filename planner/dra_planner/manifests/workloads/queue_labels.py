"""Find workloads in a queue of Kueue or KAI, by their labels."""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE
from dra_planner.model import Workload

KAI: Final = "kai-scheduler"
VOLCANO: Final = "volcano"
KAI_QUEUE: Final = "kai.scheduler/queue"
OLD_KAI_QUEUE: Final = "runai/queue"
"""Label that KAI read before 0.6, and that Run:ai still reads
(kai-scheduler/KAI-Scheduler:CHANGELOG.md@d5bc503a).
"""


def labels_of(workload: Workload) -> dict[str, str]:
    """Return the labels of a workload and of its pods. Labels of pods take precedence."""
    found = dict(workload.meta.labels)
    for pods in workload.pod_sets:
        found.update(pods.template.labels)
    return found


def has_other_scheduler(workload: Workload) -> bool:
    """Return True if KAI or Volcano places the pods."""
    return any(pods.template.spec.scheduler_name in (KAI, VOLCANO) for pods in workload.pod_sets)


def is_queued(workload: Workload) -> bool:
    """Return True if another component than the default scheduler decides when the pods start."""
    labels = labels_of(workload)
    return any(label in labels for label in (KUEUE_QUEUE, KAI_QUEUE, OLD_KAI_QUEUE))
