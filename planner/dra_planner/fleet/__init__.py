"""Read and validate the fleet file, and add default values."""

from dra_planner.fleet.drivers import DevicePluginSettings, DriversOfFleet, FleetDeviceClass
from dra_planner.fleet.learned_machines import LearnedMachine
from dra_planner.fleet.places import FleetPlaces, find_fleet_places
from dra_planner.fleet.pools import (
    CapacityBlock,
    Count,
    Headroom,
    Pool,
    PoolTaint,
    Quota,
    Redundancy,
    Reservation,
)
from dra_planner.fleet.reading import (
    StackSettings,
    is_url,
    parse_catalog,
    read_document,
    read_fleet,
    read_fleet_file,
    read_settings,
    read_stack,
    stack_file,
    stack_names,
    with_catalog,
)
from dra_planner.fleet.schema import Fleet, Network, Placement
from dra_planner.fleet.splitting import split_pools
from dra_planner.fleet.value_types import Amount

__all__ = [
    "Amount",
    "CapacityBlock",
    "Count",
    "DevicePluginSettings",
    "DriversOfFleet",
    "Fleet",
    "FleetDeviceClass",
    "FleetPlaces",
    "Headroom",
    "LearnedMachine",
    "Network",
    "Placement",
    "Pool",
    "PoolTaint",
    "Quota",
    "Redundancy",
    "Reservation",
    "StackSettings",
    "find_fleet_places",
    "is_url",
    "parse_catalog",
    "read_document",
    "read_fleet",
    "read_fleet_file",
    "read_settings",
    "read_stack",
    "split_pools",
    "stack_file",
    "stack_names",
    "with_catalog",
]
