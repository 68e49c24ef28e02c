"""Kueue's additions to the pods of an admitted workload: the labels and tolerations of their
flavor.

Source: kubernetes-sigs/kueue@v0.19.2: pkg/podset/podset.go (FromAssignment, Merge) and
pkg/scheduler/flavorassigner/flavorassigner.go (resolvePodSetFlavors).
"""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE
from dra_planner.model import OF_A_FLAVOR, PodSpec, QueueSetup, ResourceFlavor, Workload


def flavor_of(pod: PodSpec, workload: Workload, queues: QueueSetup) -> ResourceFlavor | None:
    """Return the flavor of a workload's pods with this spec, or None if there is no queue, if Kueue
    can choose the flavor, or if the pods don't request anything that has a flavor.
    """
    name, namespace = workload.meta.labels.get(KUEUE_QUEUE), workload.meta.namespace
    queue = None if name is None else queues.cluster_queue(namespace, name)
    if name is None or queue is None:
        return None
    if not (_requests_resources(pod) or any("pods" in group.covered for group in queue.groups)):
        return None
    return queues.only_flavor(namespace, name)


def _requests_resources(pod: PodSpec) -> bool:
    """Return True if a pod requests anything, as Kueue counts it: limits set missing requests."""
    containers = (*pod.containers, *pod.init_containers)
    amounts = [each for item in containers for each in (item.requests, item.limits)]
    return bool(pod.resource_claims) or any((*amounts, pod.pod_requests, pod.overhead))


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
