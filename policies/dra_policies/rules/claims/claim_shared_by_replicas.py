"""Replicas that use the same claim, so that they share its devices and its node."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.plan.blockers.replica_claims import find_replica_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for each in () if view.manifests is None else find_replica_claims(view.manifests):
        yield Finding(message=each.message, fix=each.fix, place=each.place, certain=each.is_of_node)


RULE = Rule(
    id="claim-shared-by-replicas",
    description="Replicas share one claim's devices.",
    why="A ResourceClaim is allocated once. All pods that use the claim share its devices on one "
    "node, without isolation.",
    fix="Use a ResourceClaimTemplate, or keep the named claim if sharing is intended.",
    level="advisory",
    check=check,
)
