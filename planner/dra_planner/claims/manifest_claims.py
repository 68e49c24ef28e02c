"""Claims in manifests, with their titles and the pods that use them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.errors import Place
from dra_planner.manifests import Manifests
from dra_planner.model import (
    ClaimSpec,
    ObjectKey,
    PodResourceClaim,
    PodSet,
    Workload,
    WorkloadRef,
)


class WrittenClaim(Struct, frozen=True):
    """A ResourceClaim or ResourceClaimTemplate in the manifests."""

    title: str  # for example, "ResourceClaim default/gpu"
    namespace: str
    spec: ClaimSpec
    place: Place
    users: tuple[WorkloadRef, ...] = ()  # workloads whose pods refer to it


def written_claims(manifests: Manifests) -> Iterator[WrittenClaim]:
    """Yield every claim and template, in the order of their names."""
    of_claims, of_templates = _users(manifests)
    for key, claim in sorted(manifests.claims.items()):
        users = tuple(of_claims.get(key, ()))
        yield WrittenClaim(
            f"ResourceClaim {key}", key.namespace, claim.spec, claim.meta.place, users
        )
    for key, template in sorted(manifests.templates.items()):
        users = tuple(of_templates.get(key, ()))
        yield WrittenClaim(
            f"ResourceClaimTemplate {key}", key.namespace, template.spec, template.meta.place, users
        )


_Users = dict[ObjectKey, dict[WorkloadRef, None]]


def _users(manifests: Manifests) -> tuple[_Users, _Users]:
    of_claims: _Users = {}
    of_templates: _Users = {}
    for workload, pod_set in pod_sets_with_claims(manifests):
        for entry in pod_set.template.spec.resource_claims:
            name, users = entry.resource_claim_name, of_claims
            if name is None:
                name, users = entry.resource_claim_template_name or "", of_templates
            users.setdefault(ObjectKey(workload.meta.namespace, name), {})[workload.ref] = None
    return of_claims, of_templates


def pod_sets_with_claims(manifests: Manifests) -> Iterator[tuple[Workload, PodSet]]:
    """Yield every pod template with claims, and its workload."""
    for workload in manifests.workloads:
        for pod_set in workload.pod_sets:
            if pod_set.template.spec.resource_claims:
                yield workload, pod_set


def spec_of(manifests: Manifests, namespace: str, entry: PodResourceClaim) -> ClaimSpec | None:
    """Return the spec of a pod's claim entry, or None if the manifests don't contain its claim or
    template.
    """
    if entry.resource_claim_name is not None:
        claim = manifests.claims.get(ObjectKey(namespace, entry.resource_claim_name))
        return None if claim is None else claim.spec
    template = manifests.templates.get(
        ObjectKey(namespace, entry.resource_claim_template_name or "")
    )
    return None if template is None else template.spec
