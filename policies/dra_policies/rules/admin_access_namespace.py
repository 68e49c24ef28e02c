"""Admin access to devices outside a namespace that is labelled for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.claim_specs import alternatives, written_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView

LABEL: Final = "resource.kubernetes.io/admin-access"


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    for claim in written_claims(view.manifests):
        if not any(way.admin_access for request in claim.spec.requests for way in alternatives(request)):
            continue
        namespace = view.manifests.namespaces.get(claim.namespace)
        if namespace is not None and namespace.labels.get(LABEL) == "true":
            continue
        known = namespace is not None
        lacks = "does not carry" if known else "is not declared here, so nobody knows whether it carries"
        yield Finding(
            message=f"{claim.title} asks for admin access, and namespace {claim.namespace} {lacks} {LABEL}=true",
            fix=f'label the namespace {LABEL}: "true", if its users may reach the devices of everyone',
            place=claim.place,
            certain=known,
        )


RULE = Rule(
    id="admin-access-namespace",
    says="Admin access is asked for only in namespaces that are labelled for it.",
    why="The API server refuses the claim elsewhere; the label gives everyone in the namespace every device.",
    fix=f'Label the namespace {LABEL}: "true", or leave adminAccess out.',
    level="mandatory",
    check=check,
)
