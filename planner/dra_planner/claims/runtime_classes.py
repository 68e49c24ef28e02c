"""Effects of RuntimeClasses on a new pod: overhead, node selector, and tolerations, or a rejection.

Source: kubernetes/kubernetes:plugin/pkg/admission/runtimeclass/admission.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

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


def refuse_runtime_class(pod: PodSpec, classes: Mapping[str, RuntimeClass]) -> Reason | None:
    """Return why the API server rejects a pod, or None. A class that isn't in `classes` is unknown,
    unless these are the classes of a cluster.
    """
    name, known = pod.runtime_class_name, classes.get(pod.runtime_class_name)
    if not name and pod.overhead:
        message = "the pod sets spec.overhead without a RuntimeClass, so the API server rejects it"
        return Reason(
            code="runtime-class-conflict",
            message=message,
            fix="remove spec.overhead",
        )
    if known is None:
        return _missing(name) if name and is_of_cluster(classes) else None
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


def is_of_cluster(classes: Mapping[str, RuntimeClass]) -> bool:
    """Return whether a snapshot contains the RuntimeClasses of its cluster. It does if it contains
    one.
    """
    return any(each.meta.uid for each in classes.values())


def _missing(name: str) -> Reason:
    message = f'RuntimeClass "{name}" doesn\'t exist, so the API server rejects the pods'
    return Reason(
        code="runtime-class-not-found",
        message=message,
        fix=f'create RuntimeClass "{name}", or correct runtimeClassName in the pods',
    )
