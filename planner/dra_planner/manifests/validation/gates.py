"""Fields that a Kubernetes version drops without an error, because their feature gate is off.

They are dropped before validation, so errors in them are never reported. Source:
kubernetes/kubernetes:pkg/registry/resource/
{resourceclaim,resourceclaimtemplate,deviceclass,resourceslice}/strategy.go@v1.34.3, v1.35.4,
v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.tree import Map
from dra_planner.releases import GATES, Features, default_since


class Dropped(Struct, frozen=True):
    """A field that isn't stored, and the name of the feature gate that would keep it."""

    path: str
    gate: str
    since: str  # the version in which the gate is on by default; empty if there is no such version


# fields that only some versions drop
_LATE: Final = frozenset({"distinctAttribute", "tolerations"})

_RULES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "claim": (
        ("devices.requests[].firstAvailable", "prioritized_list"),
        ("devices.requests[].exactly.adminAccess", "admin_access"),
        ("devices.constraints[].distinctAttribute", "consumable_capacity"),
        ("devices.requests[].exactly.capacity", "consumable_capacity"),
        ("devices.requests[].firstAvailable[].capacity", "consumable_capacity"),
        ("devices.requests[].exactly.tolerations", "device_taints"),
        ("devices.requests[].firstAvailable[].tolerations", "device_taints"),
        ("devices.requests[].exactly.derivedAttributes", "derived_attributes"),
        ("devices.requests[].firstAvailable[].derivedAttributes", "derived_attributes"),
    ),
    "class": (("extendedResourceName", "extended_resource"),),
    "slice": (
        ("devices[].taints", "device_taints"),
        ("sharedCounters", "partitionable_devices"),
        ("perDeviceNodeSelection", "partitionable_devices"),
        ("devices[].consumesCounters", "partitionable_devices"),
        ("devices[].nodeName", "partitionable_devices"),
        ("devices[].nodeSelector", "partitionable_devices"),
        ("devices[].allNodes", "partitionable_devices"),
        ("devices[].bindsToNode", "binding_conditions"),
        ("devices[].bindingConditions", "binding_conditions"),
        ("devices[].bindingFailureConditions", "binding_conditions"),
        ("devices[].allowMultipleAllocations", "consumable_capacity"),
        ("devices[].capacity{}.requestPolicy", "consumable_capacity"),
        ("devices[].attributes{}.bools", "list_attributes"),
        ("devices[].attributes{}.ints", "list_attributes"),
        ("devices[].attributes{}.strings", "list_attributes"),
        ("devices[].attributes{}.versions", "list_attributes"),
        ("devices[].nodeAllocatableResourceMappings", "node_allocatable_resources"),
        ("devices[].nodeAllocatableResources", "node_allocatable_resources"),
        ("devices[].consumesCounters[].compatibilityGroups", "compatibility_groups"),
        ("partitionTypeAttribute", "partitionable_devices_type"),
        ("skipNodeOperations", "optional_node_operations"),
    ),
}
_KINDS: Final = {
    "ResourceClaim": ("claim", ("spec",)),
    "ResourceClaimTemplate": ("claim", ("spec", "spec")),
    "DeviceClass": ("class", ("spec",)),
    "ResourceSlice": ("slice", ("spec",)),
}


def drop_disabled(kind: str, data: Map, features: Features) -> list[Dropped]:
    """Remove the fields that the version doesn't store, and return them."""
    if kind not in _KINDS:
        return []
    rules, prefix = _KINDS[kind]
    node: Any = data
    for key in prefix:
        node = node.get(key) if isinstance(node, Map) else None
    return [
        Dropped(where, GATES[gate].name, default_since(gate))
        for path, gate in _RULES[rules]
        if not _keeps(features, path, gate)
        for where in _remove(node, path.split("."), ".".join(prefix))
    ]


def _keeps(features: Features, path: str, gate: str) -> bool:
    if gate == "binding_conditions" and not features.device_status:
        return False
    forgotten = path.rpartition(".")[2] in _LATE and not features.drops_tolerations_and_distinct
    return forgotten or bool(getattr(features, gate))


def _remove(node: Any, path: list[str], where: str) -> Iterator[str]:
    if not isinstance(node, Map):
        return
    step, rest = path[0], path[1:]
    key = step.rstrip("[]{}")
    if not rest:
        value = node.get(key)
        if value is not None:
            node.remove(key)
            if value not in ([], {}, False):
                yield f"{where}.{key}"
        return
    value = node.get(key)
    if step.endswith("[]") and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _remove(item, rest, f"{where}.{key}[{index}]")
    elif step.endswith("{}") and isinstance(value, Map):
        for name, item in value.items():
            yield from _remove(item, rest, f"{where}.{key}.{name}")
    elif step == key:
        yield from _remove(value, rest, f"{where}.{key}")
