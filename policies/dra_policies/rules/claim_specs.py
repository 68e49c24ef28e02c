"""What the objects of a view ask for: claims and templates with how they are called, pods with their claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dra_planner.errors import Place
from dra_planner.manifests import Manifests
from dra_planner.model import ClaimSpec, DeviceRequest, ExactDeviceRequest, PodSet, Workload


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
