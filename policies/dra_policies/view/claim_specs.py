"""Claim entries of a pod for NVIDIA GPUs."""

from __future__ import annotations

from dra_planner.claims.manifest_claims import spec_of
from dra_planner.drivers.nvidia import GPU_CLASSES
from dra_planner.manifests import Manifests
from dra_planner.model import PodSet, Workload


def gpu_entries(manifests: Manifests, workload: Workload, pod_set: PodSet) -> frozenset[str]:
    """Return the names of a pod's claim entries for NVIDIA GPUs, by the classes of NVIDIA's
    charts.
    """
    found: set[str] = set()
    for entry in pod_set.template.spec.resource_claims:
        spec = spec_of(manifests, workload.meta.namespace, entry)
        for request in spec.requests if spec else ():
            if any(exact.device_class_name in GPU_CLASSES for exact in request.alternatives):
                found.add(entry.name)
    return frozenset(found)
