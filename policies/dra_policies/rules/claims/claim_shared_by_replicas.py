"""Replicas that use the same claim, so that they share its devices and its node."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import alternatives, pod_sets_with_claims, spec_of
from dra_planner.drivers.nvidia import CHART_CLASSES
from dra_planner.manifests import Manifests
from dra_planner.model import ObjectKey, PodResourceClaim
from dra_planner.plan.blockers.shared_claims import is_of_several_nodes
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    for workload, pod_set in pod_sets_with_claims(view.manifests):
        most = pod_set.figures.ceiling
        if most is not None and most < 2:
            continue
        pods = "all its pods" if most is None else f"its {most} pods"
        for entry in pod_set.template.spec.resource_claims:
            if entry.resource_claim_name is not None:
                key = ObjectKey(workload.meta.namespace, entry.resource_claim_name)
                if key in view.manifests.templates and key not in view.manifests.claims:
                    continue  # the pods mean the template, each with its own devices
                claim = f"ResourceClaim {key}"
                is_known = _is_of_nodes(view.manifests, workload.meta.namespace, entry)
                where = (
                    "run on one node"
                    if is_known
                    else "run on one node, unless several nodes can access the devices"
                )
                yield Finding(
                    message=f"{workload.ref}: {pods} use {claim}, so they share its devices "
                    f"and {where}",
                    fix="use a ResourceClaimTemplate to give each pod its own devices",
                    place=entry.place if entry.place.file else workload.place,
                    certain=is_known,
                )


def _is_of_nodes(manifests: Manifests, namespace: str, entry: PodResourceClaim) -> bool:
    """Return whether a device of a claim belongs to a node, by its class. False for a claim that
    isn't in the files.
    """
    spec = spec_of(manifests, namespace, entry)
    requests = spec.requests if spec else ()
    classes = {exact.device_class_name for request in requests for exact in alternatives(request)}
    if any(
        name in manifests.classes and is_of_several_nodes(manifests.classes[name], manifests)
        for name in classes
    ):
        return False
    return any(name in CHART_CLASSES or name in manifests.classes for name in classes)


RULE = Rule(
    id="claim-shared-by-replicas",
    says="Replicas share the devices of one claim.",
    why="A named claim is allocated once. All pods that use it share its devices on one node, "
    "without isolation.",
    fix="Use a ResourceClaimTemplate, or keep the named claim if sharing is intended.",
    level="advisory",
    check=check,
)
