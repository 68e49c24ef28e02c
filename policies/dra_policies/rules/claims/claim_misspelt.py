"""A pod's claim whose name or kind differs from the object that was probably meant."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.missing_claims import intended_claim, missing_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    manifests = view.manifests
    if manifests is None or view.judgement is not None:  # a plan reports it with the pods
        return
    for each in missing_claims(manifests):
        fix = intended_claim(each.kind, each.key, manifests)
        if fix:
            yield Finding(message=str(each), fix=fix, place=each.place, certain=False)


RULE = Rule(
    id="claim-misspelt",
    description="A pod probably references its claim by the wrong name or kind.",
    why="If a claim or template doesn't exist, the pod stays pending. The manifests contain "
    "an object with a similar name, or the pod refers to a template but only a claim exists (or "
    "vice versa).",
    fix="Correct the name, or use resourceClaimTemplateName for a template.",
    level="advisory",
    check=check,
)
