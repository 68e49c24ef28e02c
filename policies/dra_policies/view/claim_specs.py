"""What the objects of a view ask for: claims and templates with how they are called, pods with their claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dra_planner.catalog import CHART_CLASSES
from dra_planner.errors import Place
from dra_planner.manifests import Manifests
from dra_planner.model import (
    ClaimSpec,
    DeviceRequest,
    ExactDeviceRequest,
    ObjectKey,
    PodResourceClaim,
    PodSet,
    Workload,
)

GPU_CLASSES: Final = frozenset(name for name in CHART_CLASSES if not name.startswith("compute-domain"))


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A ResourceClaim or ResourceClaimTemplate as it stands in the manifests."""

    title: str  # "ResourceClaim default/gpu"
    namespace: str
    spec: ClaimSpec
    place: Place


def written_claims(manifests: Manifests) -> Iterator[WrittenClaim]:
    """Yield every claim and template, in the order of their names."""
    for key, claim in sorted(manifests.claims.items()):
        yield WrittenClaim(f"ResourceClaim {key}", key.namespace, claim.spec, claim.meta.place)
    for key, template in sorted(manifests.templates.items()):
        yield WrittenClaim(f"ResourceClaimTemplate {key}", key.namespace, template.spec, template.meta.place)


def alternatives(request: DeviceRequest) -> tuple[ExactDeviceRequest, ...]:
    """Return the ways to satisfy a request, in order of preference."""
    return request.first_available if request.exactly is None else (request.exactly,)


def pod_sets_with_claims(manifests: Manifests) -> Iterator[tuple[Workload, PodSet]]:
    """Yield every pod template that lists claims, with the workload it belongs to."""
    for workload in manifests.workloads:
        for pod_set in workload.pod_sets:
            if pod_set.template.spec.resource_claims:
                yield workload, pod_set


def spec_of(manifests: Manifests, namespace: str, entry: PodResourceClaim) -> ClaimSpec | None:
    """Return what an entry of a pod asks for; None where its claim or template is not given."""
    if entry.resource_claim_name is not None:
        claim = manifests.claims.get(ObjectKey(namespace, entry.resource_claim_name))
        return None if claim is None else claim.spec
    template = manifests.templates.get(ObjectKey(namespace, entry.resource_claim_template_name or ""))
    return None if template is None else template.spec


def gpu_entries(manifests: Manifests, workload: Workload, pod_set: PodSet) -> frozenset[str]:
    """Return the names of the entries of a pod that are for GPUs of NVIDIA, by the classes of its charts."""
    found: set[str] = set()
    for entry in pod_set.template.spec.resource_claims:
        spec = spec_of(manifests, workload.meta.namespace, entry)
        for request in spec.requests if spec else ():
            if any(exact.device_class_name in GPU_CLASSES for exact in alternatives(request)):
                found.add(entry.name)
    return frozenset(found)
