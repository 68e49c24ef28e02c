"""Opaque configuration of claims that the driver doesn't apply, or that doesn't share anything.
Pods run without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.claims.manifest_claims import (
    WrittenClaim,
    pod_sets_with_claims,
    written_claims,
)
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.drivers import driver_of
from dra_planner.model import ClaimSpec, DeviceClass
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.wording import either, listed


def use_one_claim(name: str) -> str:
    """Return the fix for sharing in a template. `name` is the name of the entry in the pod."""
    return (
        f"to share one device, use resourceClaimName instead of resourceClaimTemplateName for claim "
        f'"{name}" in all pods'
    )


def find_idle_configuration(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield configuration for requests that the driver doesn't recognize, and sharing in
    templates.
    """
    for claim in written_claims(situation.manifests):
        yield from _of_requests_with_alternatives(claim)
        yield from _of_drivers_without_devices(claim, situation.classes)
    yield from _of_templates(situation)


def _of_drivers_without_devices(
    claim: WrittenClaim, classes: Mapping[str, DeviceClass]
) -> Iterator[Blocker]:
    """Yield configuration for a driver whose devices the claim doesn't request.

    Claims with a class that doesn't name its driver are skipped.
    """
    for config in claim.spec.config:
        requested = {
            driver_of_request(way, classes)
            for request in claim.spec.requests
            if not config.requests
            or any(name.partition("/")[0] == request.name for name in config.requests)
            for way in request.alternatives
        }
        if requested and "" not in requested and config.driver not in requested:
            yield fact(
                f"{claim.title}: the configuration for {config.driver} has no effect, because the "
                f"claim requests only devices of {listed(sorted(requested))}",
                f"remove the configuration, or set driver to {min(requested)}",
                *claim.users,
                place=claim.place,
            )


def _of_requests_with_alternatives(claim: WrittenClaim) -> Iterator[Blocker]:
    """Yield configuration that names a request with alternatives, because the driver sees
    "request/alternative".
    """
    ways = {
        request.name: request.first_available
        for request in claim.spec.requests
        if not request.exactly
    }
    for config in claim.spec.config:
        driver = driver_of(config.driver)
        if driver is None or not driver.compares_whole_request_names:
            continue
        for name in config.requests:
            names = [f"{name}/{each.name}" for each in ways.get(name, ())]
            if names:
                text = (
                    f"{claim.title}: {driver.name_in_text} doesn't apply the configuration for request "
                    f'"{name}", because the allocated alternative is named {either(names)}'
                )
                yield fact(
                    text, f"set requests to [{', '.join(names)}]", *claim.users, place=claim.place
                )


def _of_templates(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield templates that configure sharing for several pods, although each pod gets its own
    devices.
    """
    manifests = situation.manifests
    for key, template in sorted(manifests.templates.items()):
        if not divides_claim(template.spec):
            continue
        uses = [
            (workload.ref, entry.name, pod_set.figures.steady)
            for workload, pod_set in pod_sets_with_claims(manifests)
            for entry in pod_set.template.spec.resource_claims
            if workload.meta.namespace == key.namespace
            and entry.resource_claim_template_name == key.name
        ]
        pods = sum(number for _, _, number in uses)
        if pods > 1:
            text = (
                f"ResourceClaimTemplate {key}: its sharing configuration applies only to "
                f"containers of the same pod, because each of the {pods} pods gets its own devices"
            )
            refs = dict.fromkeys(ref for ref, _, _ in uses)
            yield fact(text, use_one_claim(uses[0][1]), *refs, place=template.meta.place)


def divides_claim(spec: ClaimSpec) -> bool:
    """Return whether a claim's configuration lets the pods that use it share its devices."""
    configured = ((driver_of(each.driver), each.parameters) for each in spec.config)
    return any(
        driver is not None and driver.divides_claim(parameters) for driver, parameters in configured
    )
