"""ResourceSlices and Nodes."""

from __future__ import annotations

from typing import Any

from dra_planner.errors import UnsupportedFeature
from dra_planner.manifests.rendering.claims import API_VERSION
from dra_planner.manifests.rendering.fields import (
    compact,
    render_amounts,
    render_meta,
    render_node_selector,
    render_quantities,
)
from dra_planner.model import (
    AttributeValue,
    Device,
    DeviceCapacity,
    Node,
    RequestPolicy,
    ResourceSlice,
    Unknown,
    Version,
)
from dra_planner.quantity import Quantity


def render_slice(resource_slice: ResourceSlice) -> dict[str, Any]:
    """Return a ResourceSlice. Raises UnsupportedFeature if the value of an attribute is unknown."""
    pool = {
        "name": resource_slice.pool,
        "generation": resource_slice.generation,
        "resourceSliceCount": resource_slice.slice_count,
    }
    spec = compact(
        driver=resource_slice.driver,
        pool=pool,
        nodeName=resource_slice.node_name,
        nodeSelector=render_node_selector(resource_slice.node_selector),
        allNodes=resource_slice.all_nodes,
        perDeviceNodeSelection=resource_slice.per_device_node_selection,
        devices=[_device(device) for device in resource_slice.devices],
        sharedCounters=[
            {"name": counters.name, "counters": _counters(counters.counters)}
            for counters in resource_slice.shared_counters
        ],
    )
    metadata = {"name": resource_slice.name}
    return {"apiVersion": API_VERSION, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


def render_node(node: Node) -> dict[str, Any]:
    """Return a Node with its labels, taints, and allocatable amounts."""
    taints = [
        compact(key=taint.key, value=taint.value, effect=taint.effect) for taint in node.taints
    ]
    spec = compact(taints=taints, unschedulable=node.unschedulable)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": render_meta(node.meta),
        **({"spec": spec} if spec else {}),
        "status": {"allocatable": render_amounts(node.allocatable)},
    }


def _device(device: Device) -> dict[str, Any]:
    taints = [
        compact(key=taint.key, value=taint.value, effect=taint.effect) for taint in device.taints
    ]
    return compact(
        name=device.name,
        attributes={
            name: _attribute(name, device.attributes[name]) for name in sorted(device.attributes)
        },
        capacity={name: _capacity(device.capacity[name]) for name in sorted(device.capacity)},
        allowMultipleAllocations=device.allow_multiple_allocations,
        taints=taints,
        consumesCounters=[
            {"counterSet": consumption.counter_set, "counters": _counters(consumption.counters)}
            for consumption in device.consumes_counters
        ],
        nodeName=device.node_name,
        nodeSelector=render_node_selector(device.node_selector),
        allNodes=device.all_nodes,
        bindsToNode=device.binds_to_node,
        bindingConditions=list(device.binding_conditions),
        bindingFailureConditions=list(device.binding_failure_conditions),
    )


def _attribute(name: str, value: AttributeValue) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, Version):
        return {"version": value.text}
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, Unknown):
        raise UnsupportedFeature(
            f"the value of attribute {name} is known only at run time", fix="remove it"
        )
    kind = next(
        (kind for kind in (bool, int, Version) if value and isinstance(value[0], kind)), str
    )
    plural = {bool: "bools", int: "ints", Version: "versions", str: "strings"}[kind]
    return {plural: [str(item) if kind is Version else item for item in value]}


def _capacity(capacity: DeviceCapacity) -> dict[str, Any]:
    policy = capacity.request_policy
    return {
        "value": str(capacity.value),
        **({"requestPolicy": _policy(policy)} if policy is not None else {}),
    }


def _policy(policy: RequestPolicy) -> dict[str, Any]:
    valid = policy.valid_range
    bounds = (
        None
        if valid is None
        else compact(
            min=str(valid.minimum), max=_optional(valid.maximum), step=_optional(valid.step)
        )
    )
    values = [str(value) for value in policy.valid_values]
    return compact(default=_optional(policy.default), validValues=values, validRange=bounds)


def _optional(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity)


def _counters(counters: Any) -> dict[str, Any]:
    return {name: {"value": text} for name, text in render_quantities(counters).items()}
