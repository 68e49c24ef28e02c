"""ResourceClaims, templates and DeviceClasses of `resource.k8s.io/v1`."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.manifests.rendering.fields import (
    compact,
    render_meta,
    render_node_selector,
    render_quantities,
)
from dra_planner.model import (
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
)

API_VERSION: Final = "resource.k8s.io/v1"


def render_claim_spec(spec: ClaimSpec) -> dict[str, Any]:
    """Return a claim's spec. A claim without requests is `{}`."""
    devices = compact(
        requests=[_request(request) for request in spec.requests],
        constraints=[_constraint(constraint) for constraint in spec.constraints],
        config=[_configuration(configuration) for configuration in spec.config],
    )
    return {"devices": devices} if devices else {}


def render_claim(claim: ResourceClaim) -> dict[str, Any]:
    """Return a ResourceClaim, with its status if it's allocated."""
    metadata = render_meta(claim.meta)
    if claim.owner_pod:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": claim.owner_pod, "controller": True}
        metadata["ownerReferences"] = [owner]
    consumers = [{"resource": "pods", "name": name} for name in claim.reserved_for]
    status = compact(
        allocation=_allocation(claim.allocation) if claim.allocation is not None else None,
        reservedFor=consumers,
    )
    if claim.allocation is not None:
        status.setdefault("allocation", {})
    document = {"apiVersion": API_VERSION, "kind": "ResourceClaim", "metadata": metadata}
    return {
        **document,
        "spec": render_claim_spec(claim.spec),
        **({"status": status} if status else {}),
    }


def render_device_class(device_class: DeviceClass) -> dict[str, Any]:
    """Return a DeviceClass."""
    return {
        "apiVersion": API_VERSION,
        "kind": "DeviceClass",
        "metadata": render_meta(device_class.meta),
        "spec": compact(
            selectors=_selectors(device_class.selectors),
            config=[_configuration(configuration) for configuration in device_class.config],
            extendedResourceName=device_class.extended_resource_name,
        ),
    }


def _request(request: DeviceRequest) -> dict[str, Any]:
    return compact(
        name=request.name,
        exactly=_exact(request.exactly) if request.exactly is not None else None,
        firstAvailable=[_alternative(alternative) for alternative in request.first_available],
    )


def _alternative(alternative: DeviceSubRequest) -> dict[str, Any]:
    return {"name": alternative.name, **_exact(alternative)}


def _exact(request: ExactDeviceRequest) -> dict[str, Any]:
    counted = request.allocation_mode == "ExactCount"
    return compact(
        deviceClassName=request.device_class_name,
        selectors=_selectors(request.selectors),
        allocationMode=None if counted else request.allocation_mode,
        count=request.count if counted and request.count != 1 else None,
        adminAccess=request.admin_access,
        tolerations=[_toleration(toleration) for toleration in request.tolerations],
        capacity=compact(requests=render_quantities(request.capacity)),
    )


def _selectors(selectors: tuple[CelSelector, ...]) -> list[dict[str, Any]]:
    return [{"cel": {"expression": selector.expression}} for selector in selectors]


def _toleration(toleration: DeviceToleration) -> dict[str, Any]:
    return compact(
        key=toleration.key,
        operator=None if toleration.operator == "Equal" else toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        tolerationSeconds=toleration.toleration_seconds,
    )


def _constraint(constraint: DeviceConstraint) -> dict[str, Any]:
    return compact(
        requests=list(constraint.requests),
        matchAttribute=constraint.match_attribute,
        distinctAttribute=constraint.distinct_attribute,
    )


def _configuration(configuration: DeviceConfiguration) -> dict[str, Any]:
    opaque = {"driver": configuration.driver, "parameters": plain(configuration.parameters)}
    return compact(requests=list(configuration.requests), opaque=opaque)


def plain(value: Any) -> Any:
    """Return a tree of plain dicts and lists, without line numbers."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _allocation(allocation: ClaimAllocation) -> dict[str, Any]:
    results = [
        compact(
            request=device.request,
            driver=device.driver,
            pool=device.pool,
            device=device.device,
            adminAccess=device.admin_access,
            shareID=device.share_id,
            consumedCapacity=render_quantities(device.consumed_capacity),
        )
        for device in allocation.devices
    ]
    return compact(
        devices=compact(results=results),
        nodeSelector=render_node_selector(allocation.node_selector),
        allocationTimestamp=NO_TIME if allocation.has_timestamp else None,
    )


NO_TIME: Final = "1970-01-01T00:00:00Z"  # only the existence of the timestamp is relevant
