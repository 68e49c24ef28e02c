"""A pod's claim whose name or kind differs from the object that was probably meant."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.claims.resolution import ClaimKind, intended_claim
from dra_planner.model import ObjectKey
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    manifests = view.manifests
    if manifests is None or view.judgement is not None:  # a plan reports it with the pods
        return
    for workload, pod_set in pod_sets_with_claims(manifests):
        for entry in pod_set.template.spec.resource_claims:
            is_template = entry.resource_claim_name is None
            kind: ClaimKind = "ResourceClaimTemplate" if is_template else "ResourceClaim"
            name = entry.resource_claim_name or entry.resource_claim_template_name or ""
            key = ObjectKey(workload.meta.namespace, name)
            is_there = key in (manifests.templates if is_template else manifests.claims)
            if is_there or (kind, key) in manifests.refused:
                continue
            fix = intended_claim(kind, key, manifests)
            if fix:
                yield Finding(
                    message=f"{workload.ref} references {kind} {key}, which isn't in the manifests",
                    fix=fix,
                    place=entry.place if entry.place.file else workload.place,
                    certain=False,
                )


RULE = Rule(
    id="claim-misspelt",
    says="A pod probably references its claim by the wrong name or kind.",
    why="If a claim or template doesn't exist, the pod stays pending. The manifests contain an "
    "object with a similar name, or a claim where the pod refers to a template (or the reverse).",
    fix="Correct the name, or use resourceClaimTemplateName for a template.",
    level="advisory",
    check=check,
)
