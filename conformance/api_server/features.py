"""Feature gates of the server, and the planner's features that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dra_planner.releases import Features, features_of

_GATES: Final = {
    "admin_access": ("DRAAdminAccess", (34, 35)),  # locked on in later releases
    "prioritized_list": ("DRAPrioritizedList", (34, 36)),
    "device_status": ("DRAResourceClaimDeviceStatus", (34, 35)),  # another gate needs it from 1.36 on
    "partitionable_devices": ("DRAPartitionableDevices", (34, 99)),
    "device_taints": ("DRADeviceTaints", (34, 36)),
    "consumable_capacity": ("DRAConsumableCapacity", (34, 99)),
    "binding_conditions": ("DRADeviceBindingConditions", (34, 99)),
    "extended_resource": ("DRAExtendedResource", (34, 36)),
    "list_attributes": ("DRAListTypeAttributes", (36, 99)),
    "fractional_capacity_range": ("DRAFractionalCapacityRange", (37, 99)),
}
"""Field of Features → its gate, and the first and the last minor in which it can be switched."""

_OFF_BESIDE_OLDER: Final = ("fractional_capacity_range",)
"""On by default in servers that were told not to run beside an older release (--min-compatibility-version), as the
planner takes it; the servers here are told nothing, and leave it off."""


def _known(minor: int) -> dict[str, str]:
    return {field: gate for field, (gate, (first, last)) in _GATES.items() if first <= minor <= last}


def _default(minor: int) -> tuple[Features, Mapping[str, bool]]:
    return features_of(minor).with_gates(**dict.fromkeys(_OFF_BESIDE_OLDER, False)), {}


def _all(minor: int) -> tuple[Features, Mapping[str, bool]]:
    known = _known(minor)
    return features_of(minor).with_gates(**dict.fromkeys(known, True)), dict.fromkeys(known.values(), True)


def _none(minor: int) -> tuple[Features, Mapping[str, bool]]:
    known = _known(minor)
    return features_of(minor).with_gates(**dict.fromkeys(known, False)), dict.fromkeys(known.values(), False)


GATE_SETS: Final[dict[str, Callable[[int], tuple[Features, Mapping[str, bool]]]]] = {
    "default": _default,
    "all": _all,
    "none": _none,
}
"""Name → what makes the planner's features of a minor, and the gates to give to its server."""
