"""Scalers: HorizontalPodAutoscalers and KEDA ScaledObjects, assigned to their targets by
reference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from dra_planner.documents.plain_values import number
from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.pod_counts import Bounds

_HPA: Final = ("autoscaling", "HorizontalPodAutoscaler")
_KEDA: Final = ("keda.sh", "ScaledObject")
_PAUSED: Final = "autoscaling.keda.sh/paused"
_SCALED: Final = (
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "LeaderWorkerSet",
)
KEDA_MAXIMUM: Final = 100  # KEDA's default for maxReplicaCount

Target = tuple[str, str, str]  # kind, namespace, and name


def is_scaler(item: KubernetesObject) -> bool:
    return (item.group, item.kind) in (_HPA, _KEDA)


def read_bounds(objects: Iterable[KubernetesObject]) -> dict[Target, Bounds]:
    """Return the limits of the scalers among these objects, by target."""
    found: dict[Target, Bounds] = {}
    for item in objects:
        if not is_scaler(item):
            continue
        spec = item.data.get("spec")
        target = spec.get("scaleTargetRef") if isinstance(spec, Mapping) else None
        if not isinstance(spec, Mapping) or not isinstance(target, Mapping):
            continue
        key = (str(target.get("kind") or "Deployment"), item.namespace, str(target.get("name")))
        if item.kind == "ScaledObject":
            least = _number(spec, "minReplicaCount", 0)
            least = min(least, _number(spec, "idleReplicaCount", least))
            most = _number(spec, "maxReplicaCount", KEDA_MAXIMUM)
            held = _held(item.metadata.get("annotations"))
            found[key] = Bounds(
                least, most, held=held, description=_description(item, least, most, held)
            )
        else:
            minimum = _number(spec, "minReplicas", 1)
            # The controller doesn't scale a workload that was scaled to zero, unless zero is its
            # own minimum.
            most = _number(spec, "maxReplicas", minimum)
            found[key] = Bounds(
                minimum,
                most,
                off_at_zero=minimum > 0,
                description=_description(item, minimum, most),
            )
    return found


def scaler_findings(objects: Iterable[KubernetesObject]) -> Iterator[Diagnostic]:
    """Yield scalers whose limits the API server rejects, and scalers whose target isn't in the
    manifests, but is probably another object.
    """
    objects = tuple(objects)
    named = {(item.kind, item.namespace, item.name) for item in objects}
    scaled = read_bounds(objects).keys()
    for item in objects:
        spec = item.data.get("spec") if is_scaler(item) else None
        target = spec.get("scaleTargetRef") if isinstance(spec, Mapping) else None
        if not isinstance(spec, Mapping) or not isinstance(target, Mapping):
            continue
        least, most = spec.get("minReplicas"), spec.get("maxReplicas")
        if (
            item.kind == "HorizontalPodAutoscaler"
            and isinstance(least, int)
            and isinstance(most, int)
            and least > most
        ):
            message = (
                f"{item}: spec.maxReplicas: Invalid value: {most}: must be greater than or "
                "equal to `minReplicas`"
            )
            yield Diagnostic(
                "error", "scaler-refused", message, item.place, f"set minReplicas to {most} or less"
            )
        kind, name = str(target.get("kind") or "Deployment"), str(target.get("name"))
        if (kind, item.namespace, name) in named:
            continue
        if likely_target := _likely_target(kind, item.namespace, name, named):
            message = f"{item} targets {kind} {name}, which {likely_target[0]}"
            yield Diagnostic(
                "warning", "scaler-without-target", message, item.place, likely_target[1]
            )
        elif unscaled := _unscaled(item.namespace, named, scaled):
            message = (
                f"{item} targets {kind} {name}, which isn't in the manifests. "
                f"{unscaled[0]} {unscaled[2]} doesn't have an autoscaler"
            )
            fix = f"to scale {unscaled[0]} {unscaled[2]}, set scaleTargetRef.name to {unscaled[2]}"
            yield Diagnostic("note", "scaler-without-target", message, item.place, fix)


def _likely_target(
    kind: str, namespace: str, name: str, named: Iterable[Target]
) -> tuple[str, str] | None:
    """Return the object that the author probably meant, as the end of the message, and the fix."""
    for other in sorted(named):
        if other[0] in _SCALED and other[1:] == (namespace, name):
            return (
                f"isn't in the manifests. The manifests contain {other[0]} {name} instead",
                f"set scaleTargetRef.kind to {other[0]}",
            )
    for other in sorted(named):
        if (other[0], other[2]) == (kind, name):
            return (
                f'is in namespace "{other[1]}", not in namespace "{namespace}"',
                f'move the autoscaler to namespace "{other[1]}"',
            )
    near = get_close_matches(
        name, [each[2] for each in named if each[:2] == (kind, namespace)], 1, 0.75
    )
    return (
        (
            f"isn't in the manifests (did you mean {kind} {near[0]}?)",
            f"set scaleTargetRef.name to {near[0]}",
        )
        if near
        else None
    )


def _unscaled(namespace: str, named: Iterable[Target], scaled: Collection[Target]) -> Target | None:
    """Return the first workload in a namespace that doesn't have a scaler, although a scaler could
    apply to it.
    """
    for each in sorted(named):
        if each[0] in _SCALED and each[1] == namespace and each not in scaled:
            return each
    return None


def _description(item: KubernetesObject, least: int, most: int, held: int | None = None) -> str:
    named = f"{item.kind} {item.name}"
    if held is not None:
        return (
            f"{named}, which is paused, keeps "
            f"{f'{held} replicas' if held >= 0 else 'its current replicas'}"
        )
    return f"{named} scales it between {least} and {most} replicas"


def _held(annotations: Any) -> int | None:
    """Return the number of replicas that a paused ScaledObject keeps, -1 for the current number, or
    None if it isn't paused. Source: kedacore/keda:apis/keda/v1alpha1/scaledobject_types.go@v2.17
    (NeedToBePausedByAnnotation).
    """
    if not isinstance(annotations, Mapping):
        return None
    replicas = annotations.get(f"{_PAUSED}-replicas")
    if isinstance(replicas, str) and (held := number(replicas)) is not None:
        return held
    return -1 if annotations.get(_PAUSED) == "true" else None


def _number(spec: Mapping[str, Any], field: str, default: int) -> int:
    value = spec.get(field)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
