"""Kueue's additions to the pods of an admitted workload: the labels and tolerations of their
flavor.

Source: kubernetes-sigs/kueue:pkg/podset/podset.go@v0.19.2 (FromAssignment, Merge).
"""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE
from dra_planner.model import OF_A_FLAVOR, PodSpec, QueueSetup, ResourceFlavor, Workload


def flavor_of(workload: Workload, queues: QueueSetup) -> ResourceFlavor | None:
    """Return the flavor of all pods of a workload, or None if there is no queue, or if Kueue can
    choose the flavor.
    """
    queue = workload.meta.labels.get(KUEUE_QUEUE)
    return None if queue is None else queues.only_flavor(workload.meta.namespace, queue)


def with_flavor(pod: PodSpec, flavor: ResourceFlavor | None) -> PodSpec:
    """Return the pod with the labels and tolerations that Kueue adds."""
    if flavor is None:
        return pod
    return replace(
        pod,
        node_selector={**pod.node_selector, **flavor.node_labels},
        selected_by={
            **pod.selected_by,
            **dict.fromkeys(flavor.node_labels, f"{OF_A_FLAVOR} {flavor.name}"),
        },
        tolerations=tuple(dict.fromkeys((*pod.tolerations, *flavor.tolerations))),
    )
