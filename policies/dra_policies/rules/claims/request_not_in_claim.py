"""A container uses a request that its claim does not have."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.written import pod_sets_with_claims, spec_of
from dra_planner.manifests import Manifests
from dra_planner.model import PodResourceClaim
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    manifests = view.manifests
    for workload, pod_set in pod_sets_with_claims(manifests) if manifests else ():
        spec = pod_set.template.spec
        assert manifests is not None
        requests = {entry.name: _requests(entry, workload.meta.namespace, manifests) for entry in spec.resource_claims}
        for container in (*spec.containers, *spec.init_containers):
            for used in container.claims:
                known = requests.get(used.name)
                if used.request and known is not None and used.request not in known:
                    yield Finding(
                        message=f'{workload.ref}: container "{container.name}" uses request "{used.request}" of claim '
                        f'"{used.name}", which has {_listed(known)}',
                        fix=f"write request: {known[0]}" if len(known) == 1 else "write one of them, or leave it out",
                        place=pod_set.template.place if pod_set.template.place.file else workload.place,
                    )


def _requests(entry: PodResourceClaim, namespace: str, manifests: Manifests) -> tuple[str, ...] | None:
    """Return the names of a claim's requests; None where the claim is not given."""
    spec = spec_of(manifests, namespace, entry)
    return None if spec is None else tuple(request.name for request in spec.requests)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names) if names else "no request"


RULE = Rule(
    id="request-not-in-claim",
    says="Containers use requests that their claims have.",
    why="The API server does not compare the two: the container starts without the device, or the pod does not start.",
    fix="Write the name of a request of the claim, or leave it out for all its devices.",
    level="mandatory",
    check=check,
)
