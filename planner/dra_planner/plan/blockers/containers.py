"""Containers that use a request that their claim doesn't have.

The API server doesn't compare the names. The kubelet does when it prepares the container, so the
pod never starts. Source: kubernetes/kubernetes:pkg/kubelet/cm/dra/manager.go@v1.36.3
(GetResources).
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.manifests import Manifests
from dra_planner.model import PodResourceClaim
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import listed, noun


def find_missing_requests(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield every use of a request that the claim doesn't have."""
    manifests = situation.manifests
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        requests = {
            entry.name: _requests(entry, workload.meta.namespace, manifests)
            for entry in spec.resource_claims
        }
        for container in (*spec.containers, *spec.init_containers):
            for used in container.claims:
                known = requests.get(used.name)
                if used.request and known is not None and used.request not in known:
                    yield Blocker(
                        code="request-not-in-claim",
                        message=f'{workload.ref}: container "{container.name}" uses request '
                        f'"{used.request}" of claim "{used.name}", but this claim has '
                        f"{_listed(known)}, so the pod never starts",
                        fix=f"set request to {known[0]}"
                        if len(known) == 1
                        else "use one of these requests, or remove the request name",
                        place=pod_set.template.place
                        if pod_set.template.place.file
                        else workload.place,
                        workloads=(workload.ref,),
                    )


def _requests(
    entry: PodResourceClaim, namespace: str, manifests: Manifests
) -> tuple[str, ...] | None:
    """Return the names of a claim's requests, or None if the manifests don't contain the claim."""
    spec = spec_of(manifests, namespace, entry)
    return None if spec is None else tuple(request.name for request in spec.requests)


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f'"{name}"' for name in names]
    return f"only {noun(len(names), 'request')} {listed(quoted)}" if names else "no requests"
