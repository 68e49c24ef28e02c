"""The ClusterPolicy of NVIDIA's GPU Operator."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import (
    place_of,
)
from dra_planner.manifests.workloads.kind_description import ObjectPart


def operator_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield a warning if the operator installs the device plugin."""
    spec = ObjectPart(item.data, item.place).at("spec")
    if spec.get("devicePlugin.enabled", True) is not False:
        message = (
            "the GPU Operator installs NVIDIA's device plugin, which allocates the same GPUs as "
            "the DRA driver"
        )
        fix = "set spec.devicePlugin.enabled to false"
        at = place_of(item, "spec")
        yield Diagnostic("warning", "device-plugin-on-dra-node", f"{item}: {message}", at, fix)
