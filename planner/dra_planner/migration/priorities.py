"""Priorities of pods with devices, which lose their effect when the pods have claims.

kube-scheduler never preempts a pod for another pod's claim. Source: kubernetes/kubernetes:pkg/
scheduler/framework/plugins/dynamicresources/dynamicresources.go@v1.37.2 (PreFilterExtensions).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.device_plugins import is_device
from dra_planner.migration.pod_templates import find_pod_parts
from dra_planner.migration.pods import needs_of_containers


def device_priorities(objects: Iterable[KubernetesObject]) -> frozenset[str]:
    """Return the priority classes of the objects' pods with devices. "" is the default class."""
    return frozenset(
        priority_of(part.spec)
        for item in objects
        for part in find_pod_parts(item.data, item.group, item.kind)
        if any(need.counts for need in needs_of_containers(part.spec, is_device))
    )


def priority_of(spec: Mapping[str, Any]) -> str:
    """Return the priority class of a pod. "" is the default class."""
    return str(spec.get("priorityClassName") or "")


def priority_notes(priorities: Collection[str]) -> Iterator[str]:
    """Yield a note if pods with devices have different priorities."""
    if len(priorities) > 1:
        names = ", ".join(sorted(each or "the default" for each in priorities))
        yield (
            f"GPU pods have different priorities ({names}), but kube-scheduler doesn't preempt "
            "pods to free devices for a claim. Priorities no longer decide which pods get GPUs"
        )
