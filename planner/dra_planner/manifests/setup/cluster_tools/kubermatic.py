"""Configuration of Kubermatic."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import (
    fault_findings,
    pairs,
)
from dra_planner.manifests.setup.gates_and_versions import gate_faults
from dra_planner.manifests.workloads.kind_description import ObjectPart


def kubermatic_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on feature gates."""
    spec = ObjectPart(item.data, item.place).at("spec")
    for name, value in pairs(spec.get("featureGates")):
        yield from fault_findings(item, spec.place, gate_faults(name, value))
