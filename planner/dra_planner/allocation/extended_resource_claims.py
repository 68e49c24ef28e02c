"""Extended resources served by DRA: the nodes on which a pod's implicit claim applies, and the
requests that it replaces.

On each node, either the device plugin or the claim serves the whole resource: the device plugin if
the node lists it among its resources, otherwise the claim. Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/ {extendeddynamicresources.go
@v1.36.3, dynamicresources.go @v1.34.9}.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.template import Template
from dra_planner.model import Amounts, ClaimSpec, DeviceRequest, Shape, ShapeClaim

CLAIM_NAME: Final = "extended-resources"
"""Name of the implicit claim that `dra_planner.claims` adds to a shape."""


class ClaimsOnNode(Struct, frozen=True):
    """The claims of a pod on one node in search order, and its requests for a device plugin."""

    claims: tuple[ShapeClaim, ...]
    plain: Amounts = {}


def claims_on(shape: Shape, template: Template) -> ClaimsOnNode:
    """Return the pod's claims on this node. An implicit claim is last, as in the scheduler."""
    claims = [claim for claim in shape.claims if claim.name != CLAIM_NAME]
    plain: Counter[str] = Counter()
    for claim in shape.claims:
        if claim.name != CLAIM_NAME:
            continue
        kept = []
        for request in claim.spec.requests:
            resource = _plugin_resource(request, template)
            if resource and request.exactly is not None:
                plain[resource] += request.exactly.count
            else:
                kept.append(request)
        if kept:
            claims.append(replace(claim, spec=ClaimSpec(requests=tuple(kept))))
    return ClaimsOnNode(tuple(claims), dict(plain))


def _plugin_resource(request: DeviceRequest, template: Template) -> str:
    """Return the resource with which a device plugin serves the request on this node, or ""."""
    device_class = (
        template.classes.get(request.exactly.device_class_name) if request.exactly else None
    )
    name = device_class.extended_resource_name if device_class else None
    allocatable = template.node.allocatable
    if not name or name not in allocatable:
        return ""
    return name if allocatable[name] or template.features.plugin_serves_nothing else ""
