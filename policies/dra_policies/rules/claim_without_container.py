"""A pod lists a claim that none of its containers uses."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.claim_specs import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        spec = pod_set.template.spec
        used = {claim.name for container in (*spec.containers, *spec.init_containers) for claim in container.claims}
        for entry in spec.resource_claims:
            if entry.name not in used:
                yield Finding(
                    message=f'{workload.ref}: no container uses claim "{entry.name}", so its devices are allocated '
                    "and nobody sees them",
                    fix=f"list {{name: {entry.name}}} under resources.claims of a container",
                    place=entry.place if entry.place.file else workload.place,
                )


RULE = Rule(
    id="claim-without-container",
    says="Every claim of a pod is used by one of its containers.",
    why="The devices are taken from everyone else, and the pod runs without them.",
    fix="List the claim under resources.claims of the container that needs it.",
    level="advisory",
    check=check,
)
