"""Requests for devices outside of pod templates: in fields from which a controller creates pods.

Sources: kubeflow/trainer:pkg/apis/trainer/v1alpha1@8c0f505, kubeflow/spark-operator (GPUSpec).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dra_planner.documents.plain_values import number
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.editor import Path

_NOT_OF_PODS: Final = frozenset({
    "ResourceQuota", "LimitRange", "Node", "Queue", "ClusterQueue", "Cohort", "LocalQueue",
    "ResourceFlavor", "ConfigMap", "NodePool", "Provisioner", "NodeOverlay", "ComputeClass",
    "DeviceClass", "ResourceSlice", "InferenceModel", "CustomResourceDefinition", "ClusterPolicy", "Topology",
})  # fmt: skip
"""Kinds whose limits don't apply to the object's own pods."""
_INSTEAD: Final[Mapping[tuple[str, str], str]] = {
    (
        "trainer.kubeflow.org",
        "TrainJob",
    ): "Request the claim in the pod template of its runtime, and list the claim in "
    "resourcesPerNode.claims",
    ("kubevirt.io", "VirtualMachine"): "Request a claim of DeviceClass vfio.gpu.nvidia.com for a "
    "passed-through GPU (KubeVirt 1.8 or later, feature gate "
    "GPUsWithDRA)",
    ("kubevirt.io", "VirtualMachineInstance"): "Request a claim of DeviceClass vfio.gpu.nvidia.com "
    "for a passed-through GPU (KubeVirt 1.8 or later, "
    "feature gate GPUsWithDRA)",
}


def claims_instead(item: KubernetesObject) -> str:
    """Return how an object of this kind requests claims, as an imperative sentence.

    Returns "" if it's unknown.
    """
    return _INSTEAD.get((item.group, item.kind), "")


def find_other_requests(
    item: KubernetesObject, parts: Sequence[Path], is_device: Callable[[str], bool]
) -> set[str]:
    """Return the extended resources that an object requests outside of its pod templates.

    `parts` are the paths of the pod templates.
    """
    if item.kind in _NOT_OF_PODS or "spec" not in item.data:
        return set()
    return set(requested_below(item.data["spec"], is_device, ("spec",), parts))


def requested_below(
    data: Any, is_device: Callable[[str], bool], path: Path = (), parts: Sequence[Path] = ()
) -> Iterator[str]:
    """Yield the extended resources with an amount below a path, but not below the paths in
    `parts`.
    """
    if any(path == part for part in parts):
        return
    if isinstance(data, Mapping):
        for key, value in data.items():
            if is_device(str(key)) and (number(value) or 0) > 0:
                yield str(key)
            elif isinstance(value, str) and key in ("name", "deviceName") and is_device(value):
                yield value
            else:
                yield from requested_below(value, is_device, (*path, str(key)), parts)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from requested_below(value, is_device, (*path, index), parts)
