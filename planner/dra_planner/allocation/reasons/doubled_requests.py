"""Pods that request devices of one class through a claim and also through an extended resource."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.reasons.selector_changes import devices_of_class
from dra_planner.claims.extended_resources import IMPLICIT_PREFIX
from dra_planner.drivers import publishers_of
from dra_planner.model import Shape, ShapeClaim
from dra_planner.wording import listed, noun, verb


def without_doubled_requests(shape: Shape, template: Template) -> str:
    """Return the change that removes the extended resources of a pod whose own claim already
    requests devices of the same class, or "".
    """
    implicit = [claim for claim in shape.claims if claim.name == CLAIM_NAME]
    own = {
        name: claim.name
        for claim in shape.claims
        if claim.name != CLAIM_NAME
        for name in _classes(claim)
    }
    doubled = {name for claim in implicit for name in _classes(claim)}
    if not doubled or not doubled <= own.keys():
        return ""
    names = sorted(_resource(name, template) for name in doubled)
    claims = sorted({own[name] for name in doubled})
    tolerated = sorted({each.key for each in shape.pod.tolerations} & {*names})
    return ", and ".join([_removal(names, claims), *map(toleration_instead, tolerated)])


def without_plugin_resource(resource: str, shape: Shape, template: Template) -> str:
    """Return the change that removes a device plugin's resource from a pod whose claim already
    requests devices of the same vendor's driver, or "".
    """
    drivers = publishers_of(resource) if "/" in resource else frozenset()
    claims = sorted(
        claim.name
        for claim in shape.claims
        if claim.name != CLAIM_NAME
        and any(
            device.driver in drivers
            for name in _classes(claim)
            for device in devices_of_class(name, template)
        )
    )
    return _removal([resource], claims) if claims else ""


def _removal(names: Sequence[str], claims: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in claims]
    return (
        f"remove {listed(names)} from the containers' limits and requests, because "
        f"{noun(len(claims), 'claim')} {listed(quoted)} already {verb(len(claims), 'request')} "
        "these devices"
    )


def toleration_instead(resource: str) -> str:
    """Return the change that keeps the toleration that the API server adds for a resource."""
    return (
        f"add the toleration {{key: {resource}, operator: Exists}} if the pod doesn't list it, "
        "because the API server adds it only for extended resources"
    )


def _classes(claim: ShapeClaim) -> Iterator[str]:
    for request in claim.spec.requests:
        yield from (way.device_class_name for way in request.alternatives)


def _resource(class_name: str, template: Template) -> str:
    found = template.classes.get(class_name)
    named = found.extended_resource_name if found is not None else ""
    return named or f"{IMPLICIT_PREFIX}{class_name}"
