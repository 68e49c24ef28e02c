"""A claim that the quotas of its namespace keep from being created."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims import QuotaRoom
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None or not view.manifests.quotas:
        return
    classes = {**view.classes, **view.manifests.classes}
    for key, reason in QuotaRoom(view.manifests, classes, view.features).denied_claims.items():
        yield Finding(
            message=f"ResourceClaim {key}: {reason.message}",
            fix=reason.fix,
            place=view.manifests.claims[key].meta.place,
        )


RULE = Rule(
    id="claim-exceeds-quota",
    says="Every ResourceClaim has room in the quotas of its namespace.",
    why="The API server refuses to create the claim, and pods that name it stay pending.",
    fix="Raise the quota, or request fewer devices.",
    level="mandatory",
    check=check,
)
