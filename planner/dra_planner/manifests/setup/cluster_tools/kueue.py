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
                f"{item}: Kueue 0.18 renamed the {name} feature gate to {renamed[name]}, and Kueue "
                "0.19 removed the old name"
            )
            fix = (
                "remove the feature gate, because KueueDRAIntegration is on by default"
                if name == "DynamicResourceAllocation"
                else f"rename the feature gate to {renamed[name]}"
            )
            yield Diagnostic(
                "warning", "gate-renamed", message, place_of(item, "featureGates"), fix
            )
