"""ResourceSlices of `resource.k8s.io/v1`."""

from __future__ import annotations

from typing import Final

from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import (
    Data,
    parse_node_selector,
    parse_quantities,
    parse_quantity,
    text_of,
)
from dra_planner.model import (
    AttributeValue,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceTaint,
    RequestPolicy,
    ResourceSlice,
    ValidRange,
    Version,
)
from dra_planner.quantity import Quantity

_LISTS: Final = ("bools", "ints", "strings", "versions")


def parse_slice(data: Data, place: Place = NOWHERE) -> ResourceSlice:
    """Return a ResourceSlice. `place` is its place."""
    spec = data.get("spec") or {}
    pool = spec.get("pool") or {}
    return ResourceSlice(
        name=text_of((data.get("metadata") or {}).get("name")),
        driver=text_of(spec.get("driver")),
        pool=text_of(pool.get("name")),
        generation=int(pool.get("generation") or 0),
        slice_count=int(pool.get("resourceSliceCount") or 0),
        node_name=spec.get("nodeName") or None,
        node_selector=parse_node_selector(spec.get("nodeSelector")),
        all_nodes=bool(spec.get("allNodes")),
        per_device_node_selection=bool(spec.get("perDeviceNodeSelection")),
        devices=tuple(_device(item) for item in spec.get("devices") or ()),
        shared_counters=tuple(
            CounterSet(name=text_of(item.get("name")), counters=_counters(item.get("counters")))
            for item in spec.get("sharedCounters") or ()
        ),
        place=place,
    )


def _device(data: Data) -> Device:
    return Device(
        name=text_of(data.get("name")),
        attributes={
            name: _attribute(value) for name, value in (data.get("attributes") or {}).items()
        },
        capacity={name: _capacity(value) for name, value in (data.get("capacity") or {}).items()},
        allow_multiple_allocations=bool(data.get("allowMultipleAllocations")),
        taints=tuple(
            DeviceTaint(
                key=text_of(item.get("key")),
                value=text_of(item.get("value")),
                effect=text_of(item.get("effect")),
            )
            for item in data.get("taints") or ()
        ),
        consumes_counters=tuple(
            CounterConsumption(
                counter_set=text_of(item.get("counterSet")),
                counters=_counters(item.get("counters")),
            )
            for item in data.get("consumesCounters") or ()
        ),
        node_name=data.get("nodeName") or None,
        node_selector=parse_node_selector(data.get("nodeSelector")),
        all_nodes=bool(data.get("allNodes")),
        binds_to_node=bool(data.get("bindsToNode")),
        binding_conditions=tuple(data.get("bindingConditions") or ()),
        binding_failure_conditions=tuple(data.get("bindingFailureConditions") or ()),
    )


def _attribute(data: Data) -> AttributeValue:
    if data.get("bool") is not None:
        return bool(data["bool"])
    if data.get("int") is not None:
        return int(data["int"])
    if data.get("version") is not None:
        return Version(text_of(data["version"]))
    for name in _LISTS:
        values = data.get(name)
        if values is not None:
            return tuple(Version(text_of(item)) if name == "versions" else item for item in values)
    return text_of(data.get("string"))


def _capacity(data: Data) -> DeviceCapacity:
    policy = data.get("requestPolicy")
    return DeviceCapacity(
        parse_quantity(data.get("value")), _policy(policy) if policy is not None else None
    )


def _policy(data: Data) -> RequestPolicy:
    valid = data.get("validRange")
    default = data.get("default")
    return RequestPolicy(
        default=None if default is None else parse_quantity(default),
        valid_values=tuple(parse_quantity(value) for value in data.get("validValues") or ()),
        valid_range=None
        if valid is None
        else ValidRange(
            minimum=parse_quantity(valid.get("min", 0)),
            maximum=parse_quantity(valid["max"]) if valid.get("max") is not None else None,
            step=parse_quantity(valid["step"]) if valid.get("step") is not None else None,
        ),
    )


def _counters(data: Data | None) -> dict[str, Quantity]:
    return parse_quantities(
        {name: (value or {}).get("value", 0) for name, value in (data or {}).items()}
    )
