"""Pods and charts that refer to a class, a queue, or an object of their namespace that isn't
defined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.plan.blockers.queueing.admission import find_queue_faults
from dra_planner.plan.blockers.references import find_missing_classes, find_missing_objects
from dra_planner.plan.blockers.storage.volumes import (
    find_missing_storage_classes,
    find_volumes_without_class,
)
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.objects.chart_references import misplaced_objects
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import StackView

ID: Final = "reference-not-found"
RUNTIME_CLASS: Final = "kubernetes:node.k8s.io/v1:RuntimeClass"
_of_clusters = cluster_check(
    ID,
    find_missing_classes,
    find_missing_objects,
    find_missing_storage_classes,
    find_volumes_without_class,
    find_queue_faults,
)
OPERATOR: Final = "gpu-operator"
_RUNTIME_CLASS_NAME: Final = "runtimeClassName"
_OF_OPERATOR: Final = "nvidia"  # prefix of the RuntimeClasses that the GPU Operator creates


def check(view: StackView) -> Iterator[Finding]:
    yield from _of_clusters(view)
    if view.complete:
        yield from _runtime_classes(view)
        yield from misplaced_objects(view)
        yield from _priority_classes(view)


def _runtime_classes(view: StackView) -> Iterator[Finding]:
    """Yield the RuntimeClasses in pods of a stack that neither the stack nor the cloud creates."""
    known = {
        each.props.text("metadata.name") for each in view.objects if each.type == RUNTIME_CLASS
    }
    if None in known:
        return
    for pool in view.pools:
        known |= {*cloud(pool.cloud).runtime_classes}
    yield from _runtime_classes_of_charts(view, known)
    for workload in view.manifests.workloads if view.manifests is not None else ():
        named = {pods.template.spec.runtime_class_name or "" for pods in workload.pod_sets}
        for name in sorted(name for name in named - known if name):
            if not _is_of_operator(view, name):
                yield Finding(
                    message=f'{workload.ref} uses RuntimeClass "{name}", which this stack doesn\'t '
                    "declare, so the API server rejects the pods unless the cluster "
                    "already has this RuntimeClass",
                    fix=f'declare RuntimeClass "{name}", or remove runtimeClassName from the pods',
                    place=workload.place,
                )


def _runtime_classes_of_charts(view: StackView, known: set[str | None]) -> Iterator[Finding]:
    """Yield the RuntimeClasses in the values of charts that neither the stack nor the cloud
    creates.
    """
    for chart in view.installed_charts if view.pools else ():
        for path, name in _named_runtime_classes(chart.props.values):
            if name not in known and not _is_of_operator(view, name):
                yield Finding(
                    message=f'the values of chart "{chart.name}" use RuntimeClass "{name}" ({path}), '
                    "which this stack doesn't declare, so the API server rejects the pods unless "
                    "the cluster already has this RuntimeClass",
                    fix=f'remove {path} from the values, or declare RuntimeClass "{name}"',
                    urn=chart.urn,
                )


def _named_runtime_classes(values: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of the values named runtimeClassName, and the RuntimeClasses that they
    name.
    """
    for key, value in (as_mapping(values) or {}).items():
        here = f"{path}.{key}" if path else key
        if key == _RUNTIME_CLASS_NAME and isinstance(value, str) and value:
            yield here, value
        yield from _named_runtime_classes(value, here)


def _is_of_operator(view: StackView, name: str) -> bool:
    return OPERATOR in view.charts and name.startswith(_OF_OPERATOR)


def _priority_classes(view: StackView) -> Iterator[Finding]:
    """Yield the PriorityClasses that pods in a stack refer to, but that the stack doesn't create
    together with its cluster.
    """
    manifests = view.manifests
    if manifests is None or not view.pools:
        return
    known = {*manifests.priority_classes, *SYSTEM_PRIORITIES}
    for workload in manifests.workloads:
        named = {pods.template.spec.priority_class_name or "" for pods in workload.pod_sets}
        for name in sorted(name for name in named - known if name):
            yield Finding(
                message=f'{workload.ref} uses PriorityClass "{name}", which this stack doesn\'t '
                "declare, so the API server rejects the pods unless the cluster already "
                "has it",
                fix=f'declare PriorityClass "{name}", or remove priorityClassName from the pods',
                place=workload.place,
            )


RULE = Rule(
    id=ID,
    description="An object that pods or a chart need isn't in the manifests, or isn't in their namespace.",
    why="The API server rejects a pod whose PriorityClass or RuntimeClass doesn't exist. Kueue "
    "doesn't admit workloads whose queue or flavor doesn't exist. Other tools might create the "
    "object, so the finding is a note. If the manifests define every object that pods refer to, "
    "set manifests: complete in the fleet. Pods that refer to a missing object then don't fit.",
    fix="Add the object's manifest, or correct the name.",
    level="advisory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/",
    check=check,
)
