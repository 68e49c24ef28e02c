"""Pods that claim a GPU and request one as an extended resource beside it."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.written import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import gpu_entries
from dra_policies.view.stack_view import StackView

GPU = "nvidia.com/gpu"


def check(view: StackView) -> Iterator[Finding]:
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        assert view.manifests is not None
        spec, gpus = pod_set.template.spec, gpu_entries(view.manifests, workload, pod_set)
        twice = sorted(
            container.name
            for container in (*spec.containers, *spec.init_containers)
            if GPU in container.requests and any(used.name in gpus for used in container.claims)
        )
        if twice:
            yield Finding(
                message=f'{workload.ref}: container "{twice[0]}" has a claim and also requests '
                f"{GPU}, so it gets two GPUs from two managers",
                fix=f"remove {GPU} from its limits and requests",
                place=pod_set.template.place if pod_set.template.place.file else workload.place,
            )


RULE = Rule(
    id="device-requested-twice",
    says="A container requests GPUs through both a claim and an extended resource.",
    why="The pod needs a node with a GPU of the device plugin and another GPU of the DRA driver, "
    "which few clusters "
    "have.",
    fix="Keep the claim, and remove the extended resource.",
    level="advisory",
    check=check,
)
