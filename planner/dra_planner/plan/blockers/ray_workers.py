"""Ray workers that have GPUs by claim, but that Ray starts without GPUs.

Source: ray-project/kuberay:ray-operator/controllers/ray/utils/resources.go@feeaf72 (KubeRay reads
the number of GPUs from limits, not from claims).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.drivers import driver_of
from dra_planner.manifests.workloads.ray import NO_NUM_GPUS
from dra_planner.model import ClaimSpec
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact

DIFFERENT_FLAGS: Final = "server-flags-differ-from-claim"  # same text as in the rule


def find_ray_workers_without_gpus(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each group of workers with claims for accelerators but without num-gpus and limits."""
    manifests = situation.manifests
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        has_limit = any(
            name.endswith("gpu") for container in spec.containers for name in container.limits
        )
        claims = (
            spec_of(manifests, workload.meta.namespace, entry) for entry in spec.resource_claims
        )
        if NO_NUM_GPUS not in pod_set.assumptions or has_limit:
            continue
        if any(claim is not None and _has_accelerators(claim, situation) for claim in claims):
            yield fact(
                f'{workload.ref}: Ray starts the workers of group "{pod_set.name}" without GPUs, '
                "because KubeRay reads the number of GPUs from limits, not from claims",
                "set num-gpus in the group's rayStartParams to the number of GPUs per pod",
                workload.ref,
                place=workload.place,
                code=DIFFERENT_FLAGS,
            )


def _has_accelerators(claim: ClaimSpec, situation: ClusterSituation) -> bool:
    classes = {**situation.classes, **situation.manifests.classes}
    ways = [way for request in claim.requests for way in request.alternatives]
    owners = (driver_of(driver_of_request(way, classes)) for way in ways)
    return any(owner is not None and not owner.is_network for owner in owners)
