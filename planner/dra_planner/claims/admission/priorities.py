"""PriorityClasses: the fields that admission sets, and the pods that it rejects."""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.claims.admission.missing_objects import missing_class
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import contains_all, is_missing
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.model import PodSpec, Reason


def with_priority(pod: PodSpec, manifests: Manifests) -> PodSpec:
    """Return the pod with the priority of its class, as admission sets it."""
    name = pod.priority_class_name
    priority = manifests.priority_classes.get(name)
    if name in manifests.non_preempting:
        pod = replace(pod, preemption_policy="Never")
    return pod if priority is None or pod.priority else replace(pod, priority=priority)


def refuse_priority(pod: PodSpec, manifests: Manifests) -> Reason | None:
    """Return why the API server rejects pods of a PriorityClass, or None if it accepts them or the
    cluster's classes are unknown.
    """
    known, name = manifests.priority_classes, pod.priority_class_name
    is_defined = name in known or name in SYSTEM_PRIORITIES
    if name and not is_defined and is_missing(manifests, "PriorityClass", name):
        return missing_class("PriorityClass", name, manifests)
    is_known = is_defined or contains_all(manifests, "PriorityClass")
    computed = {**SYSTEM_PRIORITIES, **known}.get(name, 0)
    if pod.priority and pod.priority != computed and (is_known or not name):
        return _not_computed(pod.priority, computed)
    if pod.preemption_policy == "Never" and is_known and name not in manifests.non_preempting:
        return _not_of_its_class(name)
    return None


def _not_computed(priority: int, computed: int) -> Reason:
    """Return why the API server rejects pods whose priority isn't the value of their class.

    Source: kubernetes/kubernetes:plugin/pkg/admission/priority/admission.go@v1.36.3.
    """
    message = (
        f"the pods set priority {priority}, but the API server computes {computed} from their "
        "PriorityClass, so it rejects them"
    )
    fix = f"replace priority with priorityClassName, and use a PriorityClass with value {priority}"
    return Reason(code="priority-not-computed", message=message, fix=fix)


def _not_of_its_class(name: str) -> Reason:
    """Return why the API server rejects pods that set preemptionPolicy Never, if their
    PriorityClass doesn't.

    Source: kubernetes/kubernetes:plugin/pkg/admission/priority/admission.go@v1.36.3.
    """
    known = f'PriorityClass "{name}"' if name else "the default priority"
    message = (
        f"the pods set preemptionPolicy Never, but {known} sets PreemptLowerPriority, so the "
        "API server rejects them"
    )
    fix = (
        "remove preemptionPolicy from the pods, and use a PriorityClass with "
        "preemptionPolicy: Never"
    )
    return Reason(code="preemption-policy-of-class", message=message, fix=fix)
