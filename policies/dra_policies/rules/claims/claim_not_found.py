"""A pod's claim or template that no manifest contains, not even under a similar name."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.missing_claims import (
    fix_of,
    intended_claim,
    is_misplaced,
    missing_claims,
)
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    manifests = view.manifests
    if manifests is None or view.judgement is not None:  # a plan reports it with the pods
        return
    if view.expects_record:  # a stack can run pods whose claims another program creates
        return
    for each in missing_claims(manifests):
        if not intended_claim(each.kind, each.key, manifests):
            yield Finding(
                message=str(each),
                fix=fix_of(each.kind, each.key, manifests),
                place=each.place,
                certain=is_misplaced(each.kind, each.key, manifests),
            )


RULE = Rule(
    id="claim-not-found",
    description="A pod references a claim or template that isn't in the manifests.",
    why="A pod whose claim or template doesn't exist stays pending. If the claim or template "
    "exists only in the cluster, pulumi-dra can't check its requests, so the finding is a note. If "
    "the manifests create the namespace, but contain the claim only in another namespace, the "
    "finding is an error.",
    fix="Add a manifest for the claim or template in the pod's namespace.",
    level="mandatory",
    check=check,
)
