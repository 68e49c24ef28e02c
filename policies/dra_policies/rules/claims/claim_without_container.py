"""A pod lists a claim that none of its containers uses."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.claims.requested_drivers import named_drivers
from dra_planner.drivers import driver_of, known_classes
from dra_planner.manifests import Manifests
from dra_planner.model import ClaimSpec
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    for workload, pod_set in pod_sets_with_claims(view.manifests):
        spec = pod_set.template.spec
        used = {
            claim.name
            for container in (*spec.containers, *spec.init_containers)
            for claim in container.claims
        }
        for entry in spec.resource_claims:
            spec_of_claim = spec_of(view.manifests, workload.meta.namespace, entry)
            is_unused = None if spec_of_claim is None else _is_unused(spec_of_claim, view.manifests)
            if entry.name in used or is_unused is False:
                continue
            yield Finding(
                message=f'{workload.ref}: no container uses claim "{entry.name}", so its '
                "devices are allocated but unused"
                + ("" if is_unused else ", unless they are network interfaces of the pod"),
                fix=f"add {{name: {entry.name}}} to a container's resources.claims",
                place=entry.place if entry.place.file else workload.place,
                remark=not is_unused,
            )


def _is_unused(spec: ClaimSpec, manifests: Manifests) -> bool | None:
    """Return whether some device of a claim needs a container, or None if its class isn't known.

    Network interfaces belong to a pod and not to a container. Source:
    kubernetes-sigs/dranet:pkg/driver/nri_hooks.go@v1.4.0 (RunPodSandbox moves them into the pod's
    network).
    """
    names = {way.device_class_name for request in spec.requests for way in request.alternatives}
    found = [_needs_container(name, manifests) for name in sorted(names)] or [True]
    return True if True in found else None if None in found else False


def _needs_container(name: str, manifests: Manifests) -> bool | None:
    declared, known = manifests.classes.get(name), known_classes().get(name)
    if declared is not None:
        drivers = named_drivers(each.expression for each in declared.selectors)
        return not any(map(_is_network, drivers))
    if known is not None:
        return not _is_network(known.driver)
    return False if name.startswith("dranet") else None


def _is_network(domain: str) -> bool:
    owner = driver_of(domain)
    return owner is not None and owner.is_network


RULE = Rule(
    id="claim-without-container",
    description="A pod has a claim that none of its containers use.",
    why="The claim reserves devices that the pod can't use.",
    fix="Add the claim to resources.claims in the container that needs the devices.",
    level="advisory",
    check=check,
)
