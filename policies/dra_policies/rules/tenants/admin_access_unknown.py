"""Admin access to devices in a namespace of which nobody can say whether it is labelled for it.

Where the namespace is declared beside the claim and lacks the label, reading the claim refuses it already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.written import alternatives, written_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

LABEL: Final = "resource.kubernetes.io/admin-access"


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    for claim in written_claims(view.manifests):
        if not any(way.admin_access for request in claim.spec.requests for way in alternatives(request)):
            continue
        if claim.namespace not in view.manifests.namespaces:
            yield Finding(
                message=f"{claim.title} requests admin access, and whether namespace {claim.namespace} carries "
                f"{LABEL}=true cannot be told: it is not declared here",
                fix=f'declare the namespace with the label {LABEL}: "true", if its users may reach everyone\'s devices',
                place=claim.place,
                certain=False,
            )


RULE = Rule(
    id="admin-access-unknown",
    says="Admin access is requested in a namespace that is declared beside the claim, labelled for it.",
    why="The API server refuses the claim elsewhere; the label gives everyone in the namespace every device.",
    fix=f'Label the namespace {LABEL}: "true", or leave adminAccess out.',
    level="advisory",
    check=check,
)
