"""References of pods to claims and templates that the manifests don't contain."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.errors import Place
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import is_missing
from dra_planner.model import ObjectKey, WorkloadRef
from dra_planner.wording import either, listed

_ALWAYS_EXISTS: Final = "default"
ClaimKind = Literal["ResourceClaim", "ResourceClaimTemplate"]
_FIELDS: Final[dict[ClaimKind, str]] = {
    "ResourceClaim": "resourceClaimName",
    "ResourceClaimTemplate": "resourceClaimTemplateName",
}


class MissingClaim(Struct, frozen=True):
    """A pod's reference to a claim or template that isn't in the manifests."""

    workload: WorkloadRef
    kind: ClaimKind
    key: ObjectKey
    place: Place

    def __str__(self) -> str:
        return f"{self.workload} references {self.kind} {self.key}, which isn't in the manifests"


def missing_claims(manifests: Manifests) -> Iterator[MissingClaim]:
    """Yield every reference to a missing claim or template.

    Claims that the API server rejects have other findings.
    """
    for workload, pod_set in pod_sets_with_claims(manifests):
        for entry in pod_set.template.spec.resource_claims:
            is_template = entry.resource_claim_name is None
            kind: ClaimKind = "ResourceClaimTemplate" if is_template else "ResourceClaim"
            name = entry.resource_claim_name or entry.resource_claim_template_name or ""
            key = ObjectKey(workload.meta.namespace, name)
            is_there = key in (manifests.templates if is_template else manifests.claims)
            if not is_there and (kind, key) not in manifests.refused:
                place = entry.place if entry.place.file else workload.place
                yield MissingClaim(workload.ref, kind, key, place)


def fix_of(kind: ClaimKind, key: ObjectKey, manifests: Manifests) -> str:
    """Return the fix for a reference to a missing object."""
    intended, others = intended_claim(kind, key, manifests), other_namespaces(kind, key, manifests)
    if others and not intended:
        return (
            f"create {kind} {key.name} in namespace {key.namespace}, or move the pods to namespace "
            f"{either(others)}"
        )
    return intended or f"add a manifest for {kind} {key}"


def describe_missing(kind: ClaimKind, key: ObjectKey, manifests: Manifests) -> str:
    """Return why pods that use a missing object don't start, or why this is unknown."""
    if is_missing(manifests, kind, key.name):
        return f"nothing in the manifests defines {kind} {key}, so pods that use it stay pending"
    others = listed(other_namespaces(kind, key, manifests))
    if is_misplaced(kind, key, manifests):
        return (
            f"{kind} {key} doesn't exist, so pods that use it stay pending. The manifests create "
            f"namespace {key.namespace}, but contain {key.name} only in namespace {others}"
        )
    unknown = f"{kind} {key} isn't in the manifests, so the pods' device requests are unknown"
    if not others:
        return unknown
    return (
        f"{unknown}. The manifests contain {key.name} only in namespace {others}, and pods can't "
        "use claims in another namespace"
    )


def other_namespaces(kind: ClaimKind, key: ObjectKey, manifests: Manifests) -> tuple[str, ...]:
    """Return the namespaces of objects with the same name as a missing object."""
    known = manifests.claims if kind == "ResourceClaim" else manifests.templates
    return tuple(sorted(each.namespace for each in known if each.name == key.name))


def is_misplaced(kind: ClaimKind, key: ObjectKey, manifests: Manifests) -> bool:
    """Return whether a missing object certainly doesn't exist, because the manifests create its
    namespace, but contain an object with its name only in another namespace.

    An existing namespace, or one in which unread objects might create claims, could contain it.
    """
    namespace = manifests.namespaces.get(key.namespace)
    return (
        namespace is not None
        and not namespace.uid
        and key.namespace != _ALWAYS_EXISTS
        and not (manifests.unread or manifests.unresolved)
        and bool(other_namespaces(kind, key, manifests))
    )


def intended_claim(kind: ClaimKind, key: ObjectKey, manifests: Manifests) -> str:
    """Return the fix for a reference to a missing object if the manifests contain the object that
    was probably meant, otherwise "".
    """
    known: dict[ClaimKind, Iterable[ObjectKey]] = {
        "ResourceClaim": manifests.claims,
        "ResourceClaimTemplate": manifests.templates,
    }
    (other,) = known.keys() - {kind}
    if key in known[other]:
        return f"use {_FIELDS[other]}: {key.name}, because {key} is a {other}"
    hint = near_name(
        key.name, [each.name for each in known[kind] if each.namespace == key.namespace]
    )
    return f"add a manifest for {kind} {key}{hint}" if hint else ""


def near_name(name: str, known: Iterable[str]) -> str:
    """Return the end of a fix with the known name that is most similar, or ""."""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f", or use {near[0]}" if near else ""
