"""Configuration of Kueue.

Source: kubernetes-sigs/kueue:pkg/features/kube_features.go@v0.19.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import (
    pairs,
    place_of,
)

KUEUE_CONFIG: Final = ("config.kueue.x-k8s.io", "Configuration")


def kueue_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on feature gates that were renamed."""
    gates = item.data.get("featureGates")
    renamed = {
        "DynamicResourceAllocation": "KueueDRAIntegration",
        "DRAExtendedResources": "KueueDRAIntegrationExtendedResource",
    }
    for name, _ in pairs(gates):
        if name in renamed:
            message = (
                f"{item}: Kueue's feature gate {name} is {renamed[name]} since 0.18, and "
                "removed in 0.19"
            )
            fix = (
                "leave it out: KueueDRAIntegration is on"
                if name == "DynamicResourceAllocation"
                else f"write {renamed[name]}"
            )
            yield Diagnostic(
                "warning", "gate-renamed", message, place_of(item, "featureGates"), fix
            )
