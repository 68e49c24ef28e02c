"""The user's document: which cluster, which pools, which drivers; read, validated, defaults filled in."""

from dra_planner.fleet.reading import (
    StackSettings,
    read_fleet,
    read_fleet_file,
    read_settings,
    read_stack,
    stack_file,
)
from dra_planner.fleet.schema import (
    CapacityBlock,
    Count,
    DevicePlugin,
    Fleet,
    FleetDeviceClass,
    Network,
    Pool,
    Reservation,
)

__all__ = [
    "CapacityBlock",
    "Count",
    "DevicePlugin",
    "Fleet",
    "FleetDeviceClass",
    "Network",
    "Pool",
    "Reservation",
    "StackSettings",
    "read_fleet",
    "read_fleet_file",
    "read_settings",
    "read_stack",
    "stack_file",
]
