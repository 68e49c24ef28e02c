"""Fields that a release drops in silence because their feature gate is off.

They go before validation, so faults inside them are never told. Source: kubernetes/kubernetes:pkg/registry/resource/
{resourceclaim,resourceclaimtemplate,deviceclass,resourceslice}/strategy.go@v1.34.3, v1.35.4, v1.36.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from dra_planner.documents.tree import Map
from dra_planner.releases import Features


@dataclass(frozen=True, slots=True)
class Dropped:
    """A field that is not stored, and the gate that would keep it."""

    path: str
    gate: str
    since: str  # the release in which the gate is on by default; empty where it is on in none


@dataclass(frozen=True, slots=True)
class _Gate:
    name: str
    since: str
    is_on: Callable[[Features], bool]


_ADMIN: Final = _Gate("DRAAdminAccess", "1.34", lambda f: f.admin_access)
_LIST: Final = _Gate("DRAPrioritizedList", "1.34", lambda f: f.prioritized_list)
_CAPACITY: Final = _Gate("DRAConsumableCapacity", "1.36", lambda f: f.consumable_capacity)
# 1.34 forgets to drop these two.
_DISTINCT: Final = _Gate("DRAConsumableCapacity", "1.36", lambda f: f.consumable_capacity or f.minor == 34)
_TOLERATIONS: Final = _Gate("DRADeviceTaints", "1.36", lambda f: f.device_taints or f.minor == 34)
_TAINTS: Final = _Gate("DRADeviceTaints", "1.36", lambda f: f.device_taints)
_PARTITIONS: Final = _Gate("DRAPartitionableDevices", "1.36", lambda f: f.partitionable_devices)
_BINDING: Final = _Gate("DRADeviceBindingConditions", "1.36", lambda f: f.binding_conditions and f.device_status)
_EXTENDED: Final = _Gate("DRAExtendedResource", "1.36", lambda f: f.extended_resource)
_LISTS: Final = _Gate("DRAListTypeAttributes", "", lambda f: f.list_attributes)
_ALLOCATABLE: Final = _Gate("DRANodeAllocatableResources", "", lambda f: False)
_DERIVED: Final = _Gate("DRADerivedAttributes", "", lambda f: False)
_GROUPS: Final = _Gate("DRADeviceCompatibilityGroups", "", lambda f: False)
_PARTITION_TYPE: Final = _Gate("DRAPartitionableDevicesType", "", lambda f: False)
_OPERATIONS: Final = _Gate("DRAOptionalNodeOperations", "", lambda f: False)

_RULES: Final[dict[str, tuple[tuple[str, _Gate], ...]]] = {
    "claim": (
        ("devices.requests[].firstAvailable", _LIST),
        ("devices.requests[].exactly.adminAccess", _ADMIN),
        ("devices.constraints[].distinctAttribute", _DISTINCT),
        ("devices.requests[].exactly.capacity", _CAPACITY),
        ("devices.requests[].firstAvailable[].capacity", _CAPACITY),
        ("devices.requests[].exactly.tolerations", _TOLERATIONS),
        ("devices.requests[].firstAvailable[].tolerations", _TOLERATIONS),
        ("devices.requests[].exactly.derivedAttributes", _DERIVED),
        ("devices.requests[].firstAvailable[].derivedAttributes", _DERIVED),
    ),
    "class": (("extendedResourceName", _EXTENDED),),
    "slice": (
        ("devices[].taints", _TAINTS),
        ("sharedCounters", _PARTITIONS),
        ("perDeviceNodeSelection", _PARTITIONS),
        ("devices[].consumesCounters", _PARTITIONS),
        ("devices[].nodeName", _PARTITIONS),
        ("devices[].nodeSelector", _PARTITIONS),
        ("devices[].allNodes", _PARTITIONS),
        ("devices[].bindsToNode", _BINDING),
        ("devices[].bindingConditions", _BINDING),
        ("devices[].bindingFailureConditions", _BINDING),
        ("devices[].allowMultipleAllocations", _CAPACITY),
        ("devices[].capacity{}.requestPolicy", _CAPACITY),
        ("devices[].attributes{}.bools", _LISTS),
        ("devices[].attributes{}.ints", _LISTS),
        ("devices[].attributes{}.strings", _LISTS),
        ("devices[].attributes{}.versions", _LISTS),
        ("devices[].nodeAllocatableResourceMappings", _ALLOCATABLE),
        ("devices[].nodeAllocatableResources", _ALLOCATABLE),
        ("devices[].consumesCounters[].compatibilityGroups", _GROUPS),
        ("partitionTypeAttribute", _PARTITION_TYPE),
        ("skipNodeOperations", _OPERATIONS),
    ),
}
_KINDS: Final = {
    "ResourceClaim": ("claim", ("spec",)),
    "ResourceClaimTemplate": ("claim", ("spec", "spec")),
    "DeviceClass": ("class", ("spec",)),
    "ResourceSlice": ("slice", ("spec",)),
}


def drop_disabled(kind: str, data: Map, features: Features) -> list[Dropped]:
    """Remove from an object what the release does not store, and return what went."""
    if kind not in _KINDS:
        return []
    rules, prefix = _KINDS[kind]
    node: Any = data
    for key in prefix:
        node = node.get(key) if isinstance(node, Map) else None
    return [
        Dropped(where, gate.name, gate.since)
        for path, gate in _RULES[rules]
        if not gate.is_on(features)
        for where in _remove(node, path.split("."), ".".join(prefix))
    ]


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
