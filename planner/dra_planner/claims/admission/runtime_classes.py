"""Effects of RuntimeClasses on a new pod: overhead, node selector, and tolerations, or a rejection.

Source: kubernetes/kubernetes:plugin/pkg/admission/runtimeclass/admission.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from dra_planner.claims.admission.missing_objects import missing_class
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import is_missing
from dra_planner.model import PodSpec, Reason, RuntimeClass


def with_runtime_class(pod: PodSpec, classes: Mapping[str, RuntimeClass]) -> PodSpec:
    """Return the pod with the additions of its RuntimeClass, or unchanged if that class isn't in
    `classes`.
    """
    known = classes.get(pod.runtime_class_name)
    if known is None:
        return pod
    tolerations = dict.fromkeys((*pod.tolerations, *known.tolerations))
    return replace(
        pod,
        overhead=pod.overhead if known.overhead is None else known.overhead,
        node_selector={**pod.node_selector, **known.node_selector},
        selected_by={
            key: f'scheduling.nodeSelector of RuntimeClass "{pod.runtime_class_name}"'
            for key in known.node_selector
            if key not in pod.node_selector
        },
        tolerations=tuple(tolerations),
    )


def refuse_runtime_class(pod: PodSpec, manifests: Manifests) -> Reason | None:
    """Return why the API server rejects a pod, or None. A class that isn't in the manifests is
    unknown, unless the manifests contain all of the cluster's classes.
    """
    name = pod.runtime_class_name
    known = manifests.runtime_classes.get(name)
    if not name and pod.overhead:
        message = "the pod sets spec.overhead without a RuntimeClass, so the API server rejects it"
        return Reason(
            code="runtime-class-conflict",
            message=message,
            fix="remove spec.overhead",
        )
    if known is None:
        if name and is_missing(manifests, "RuntimeClass", name):
            return missing_class("RuntimeClass", name, manifests)
        return None
    if pod.overhead and pod.overhead != known.overhead:
        message = (
            f'the pod\'s spec.overhead differs from the overhead of RuntimeClass "{name}", so '
            "the API server rejects it"
        )
        return Reason(
            code="runtime-class-conflict",
            message=message,
            fix="remove spec.overhead",
        )
    for key, value in known.node_selector.items():
        own = pod.node_selector.get(key, value)
        if own != value:
            message = (
                f'the pod selects nodes with {key}={own}, but RuntimeClass "{name}" selects '
                f"{key}={value}, so the API server rejects the pod"
            )
            return Reason(
                code="runtime-class-conflict",
                message=message,
                fix=f"remove {key} from the pod's nodeSelector",
            )
    return None
