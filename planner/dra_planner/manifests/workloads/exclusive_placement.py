"""Groups of pods that exclude each other from the nodes with the same label value.

Source: kubernetes-sigs/lws:pkg/webhooks/pod_webhook.go@v0.7.0 (SetExclusiveAffinities), and
kubernetes-sigs/jobset:pkg/webhooks/pod_mutating_webhook.go (patchPod, setExclusiveAffinities) and
pkg/controllers/jobset_controller.go (labelAndAnnotateObject)@v0.10.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import ObjectPart
from dra_planner.model import ExclusiveGroups, WorkloadRef

_LEADERS: Final = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
_JOB_SET: Final = ("jobset.x-k8s.io", "JobSet")
_OF_LEADERS: Final = "leaderworkerset.sigs.k8s.io/exclusive-topology"
_OF_JOBS: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_BY_NODE_LABELS: Final = "alpha.jobset.sigs.k8s.io/node-selector"
"""If this annotation is also set, the pods of each Job select nodes that a script labels for the
Job.
"""
_JOB_LABEL: Final = "alpha.jobset.sigs.k8s.io/namespaced-job"


def find_exclusive_groups(item: KubernetesObject) -> Iterator[ExclusiveGroups]:
    """Yield the exclusive groups of an object, by node label.

    Each replica of a LeaderWorkerSet and each Job of a JobSet is a group. Jobs of different
    priorities don't exclude each other.
    """
    root = ObjectPart(item.data, item.place)
    counts: Counter[tuple[str, str]] = Counter()
    annotation = _OF_JOBS
    if (item.group, item.kind) == _LEADERS:
        annotation = _OF_LEADERS
        counts["", _annotations(root).get(annotation, "")] += root.number("spec.replicas", 1)
    elif (item.group, item.kind) == _JOB_SET:
        for _, job in root.at("spec.replicatedJobs").members():
            parts = [each for each in (job.at("template"), root) if _OF_JOBS in _annotations(each)]
            if not parts:
                continue
            by_labels = any(_BY_NODE_LABELS in _annotations(each) for each in parts)
            key = _JOB_LABEL if by_labels else _annotations(parts[0])[_OF_JOBS]
            priority = job.get("template.spec.template.spec.priorityClassName", "")
            counts[str(priority), key] += job.number("replicas", 1)
    ref = WorkloadRef(item.kind, item.namespace, item.name)
    for (_, key), groups in counts.items():
        if key and (groups > 1 or key == _JOB_LABEL):
            yield ExclusiveGroups(workload=ref, annotation=annotation, key=key, groups=groups)


def _annotations(part: ObjectPart) -> dict[str, str]:
    found = part.get("metadata.annotations", {})
    return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}
