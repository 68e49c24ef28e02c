"""The user's document: which cluster, which pools, which drivers; read, validated, defaults filled in."""

from dra_planner.fleet.drivers import DevicePlugin, Dranet, Drivers, FleetDeviceClass, NvidiaDriver
from dra_planner.fleet.pools import OUR_LABELS, CapacityBlock, Count, Pool, PoolTaint, Reservation
from dra_planner.fleet.reading import (
    StackSettings,
    read_document,
    read_fleet,
    read_fleet_file,
    read_settings,
    read_stack,
    stack_file,
)
from dra_planner.fleet.schema import Autoscaler, Fleet, Network
from dra_planner.fleet.values import Amount

__all__ = [
    "OUR_LABELS",
    "Amount",
    "Autoscaler",
    "CapacityBlock",
    "Count",
    "DevicePlugin",
    "Dranet",
    "Drivers",
    "Fleet",
    "FleetDeviceClass",
    "Network",
    "NvidiaDriver",
    "Pool",
    "PoolTaint",
    "Reservation",
    "StackSettings",
    "read_document",
    "read_fleet",
    "read_fleet_file",
    "read_settings",
    "read_stack",
    "stack_file",
]
