"""ResourceClaims, templates and DeviceClasses of `resource.k8s.io/v1`."""

from __future__ import annotations

from typing import Any

from dra_planner.documents.tree import child
from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import (
    Data,
    parse_meta,
    parse_node_selector,
    parse_quantities,
    parse_texts,
    text_of,
)
from dra_planner.model import (
    AllocatedDevice,
    CelSelector,
    ClaimAllocation,
    ClaimSpec,
    DeviceClass,
    DeviceConfiguration,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
)


def parse_claim_spec(data: Data | None, place: Place = NOWHERE) -> ClaimSpec:
    """Return a claim's spec after defaulting. `place` is the place of the spec."""
    devices = (data or {}).get("devices") or {}
    at = child(place, data, "devices")
    listed = devices.get("requests") or ()
    where = child(at, devices, "requests")
    return ClaimSpec(
        requests=tuple(
            _request(item, child(where, listed, index)) for index, item in enumerate(listed)
        ),
        constraints=tuple(_constraint(item) for item in devices.get("constraints") or ()),
        config=tuple(_configuration(item) for item in devices.get("config") or ()),
    )


def parse_claim(data: Data, place: Place = NOWHERE) -> ResourceClaim:
    """Return a ResourceClaim, with the allocation in its status."""
    status = data.get("status") or {}
    references = (data.get("metadata") or {}).get("ownerReferences") or ()
    owner: Data = next((reference for reference in references if reference.get("controller")), {})
    return ResourceClaim(
        meta=parse_meta(data.get("metadata"), place),
        spec=parse_claim_spec(data.get("spec"), child(place, data, "spec")),
        allocation=_allocation(status.get("allocation")),
        reserved_for=tuple(text_of(item.get("name")) for item in status.get("reservedFor") or ()),
        owner_pod=text_of(owner.get("name")) if owner.get("kind") == "Pod" else "",
    )


def parse_claim_template(data: Data, place: Place = NOWHERE) -> ResourceClaimTemplate:
    """Return a ResourceClaimTemplate."""
    spec = data.get("spec") or {}
    meta = spec.get("metadata") or {}
    at = child(place, data, "spec")
    return ResourceClaimTemplate(
        meta=parse_meta(data.get("metadata"), place),
        spec=parse_claim_spec(spec.get("spec"), child(at, spec, "spec")),
        claim_labels=parse_texts(meta.get("labels")),
        claim_annotations=parse_texts(meta.get("annotations")),
    )


def parse_device_class(data: Data, place: Place = NOWHERE) -> DeviceClass:
    """Return a DeviceClass."""
    spec = data.get("spec") or {}
    at = child(place, data, "spec")
    return DeviceClass(
        meta=parse_meta(data.get("metadata"), place, namespaced=False),
        selectors=_selectors(spec, at),
        config=tuple(_configuration(item) for item in spec.get("config") or ()),
        extended_resource_name=spec.get("extendedResourceName"),
    )


def _request(data: Data, place: Place) -> DeviceRequest:
    exactly = data.get("exactly")
    alternatives = data.get("firstAvailable") or ()
    where = child(place, data, "firstAvailable")
    return DeviceRequest(
        name=text_of(data.get("name")),
        exactly=ExactDeviceRequest(**_exact(exactly, child(place, data, "exactly")))
        if exactly is not None
        else None,
        first_available=tuple(
            DeviceSubRequest(
                name=text_of(item.get("name")), **_exact(item, child(where, alternatives, index))
            )
            for index, item in enumerate(alternatives)
        ),
        place=place,
    )


def _exact(data: Data, place: Place) -> dict[str, Any]:
    mode = data.get("allocationMode") or "ExactCount"
    return {
        "device_class_name": text_of(data.get("deviceClassName")),
        "selectors": _selectors(data, place),
        "allocation_mode": mode,
        "count": int(data.get("count") or 1) if mode == "ExactCount" else 1,
        "admin_access": bool(data.get("adminAccess")),
        "tolerations": tuple(_toleration(item) for item in data.get("tolerations") or ()),
        "capacity": parse_quantities((data.get("capacity") or {}).get("requests")),
        "place": place,
    }


def _selectors(data: Data, place: Place) -> tuple[CelSelector, ...]:
    listed = data.get("selectors") or ()
    if not listed:
        return ()
    at = child(place, data, "selectors")
    selectors = []
    for index, item in enumerate(listed):
        cel = item.get("cel") or {}
        where = child(child(at, listed, index), item, "cel")
        selectors.append(
            CelSelector(text_of(cel.get("expression")), child(where, cel, "expression"))
        )
    return tuple(selectors)


def _toleration(data: Data) -> DeviceToleration:
    seconds = data.get("tolerationSeconds")
    return DeviceToleration(
        key=text_of(data.get("key")),
        operator=data.get("operator") or "Equal",
        value=text_of(data.get("value")),
        effect=text_of(data.get("effect")),
        toleration_seconds=None if seconds is None else int(seconds),
    )


def _constraint(data: Data) -> DeviceConstraint:
    return DeviceConstraint(
        requests=tuple(data.get("requests") or ()),
        match_attribute=data.get("matchAttribute"),
        distinct_attribute=data.get("distinctAttribute"),
    )


def _configuration(data: Data) -> DeviceConfiguration:
    opaque = data.get("opaque") or {}
    return DeviceConfiguration(
        requests=tuple(data.get("requests") or ()),
        driver=text_of(opaque.get("driver")),
        parameters=opaque.get("parameters") or {},
    )


def _allocation(data: Data | None) -> ClaimAllocation | None:
    if data is None:
        return None
    results = (data.get("devices") or {}).get("results") or ()
    return ClaimAllocation(
        devices=tuple(
            AllocatedDevice(
                request=text_of(item.get("request")),
                driver=text_of(item.get("driver")),
                pool=text_of(item.get("pool")),
                device=text_of(item.get("device")),
                admin_access=bool(item.get("adminAccess")),
                share_id=text_of(item.get("shareID")),
                consumed_capacity=parse_quantities(item.get("consumedCapacity")),
            )
            for item in results
        ),
        node_selector=parse_node_selector(data.get("nodeSelector")),
        has_timestamp=data.get("allocationTimestamp") is not None,
    )
