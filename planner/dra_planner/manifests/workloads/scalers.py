"""Scalers: HorizontalPodAutoscalers and KEDA ScaledObjects, tied to what they scale by reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.figures import Bounds

_HPA: Final = ("autoscaling", "HorizontalPodAutoscaler")
_KEDA: Final = ("keda.sh", "ScaledObject")
KEDA_MAXIMUM: Final = 100  # KEDA's default for maxReplicaCount

Target = tuple[str, str, str]  # kind, namespace, name


def is_scaler(item: KubernetesObject) -> bool:
    return (item.group, item.kind) in (_HPA, _KEDA)


def read_bounds(objects: Iterable[KubernetesObject]) -> dict[Target, Bounds]:
    """Return what the scalers among these objects allow, by what they scale."""
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
            found[key] = Bounds(_number(spec, "minReplicaCount", 0), _number(spec, "maxReplicaCount", KEDA_MAXIMUM))
        else:
            minimum = _number(spec, "minReplicas", 1)
            found[key] = Bounds(minimum, _number(spec, "maxReplicas", minimum))
    return found


def _number(spec: Mapping[str, Any], field: str, default: int) -> int:
    value = spec.get(field)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
