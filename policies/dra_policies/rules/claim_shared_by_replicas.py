"""Replicas that name one claim: they all share its devices, and its node."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.claim_specs import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        most = pod_set.figures.ceiling
        if most is not None and most < 2:
            continue
        pods = "all its pods" if most is None else f"its {most} pods"
        for entry in pod_set.template.spec.resource_claims:
            if entry.resource_claim_name is not None:
                claim = f"ResourceClaim {workload.meta.namespace}/{entry.resource_claim_name}"
                yield Finding(
                    message=f"{workload.ref}: {pods} name {claim}, so they share its devices and run on one node",
                    fix="use a ResourceClaimTemplate to give each pod devices of its own",
                    place=entry.place if entry.place.file else workload.place,
                )


RULE = Rule(
    id="claim-shared-by-replicas",
    says="Replicas get devices of their own, from a template.",
    why="A named claim is allocated once: every pod that names it shares its devices without isolation, on one node.",
    fix="Use a ResourceClaimTemplate; keep the named claim where sharing is meant.",
    level="advisory",
    check=check,
)
