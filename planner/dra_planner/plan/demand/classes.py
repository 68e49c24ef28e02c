"""The DeviceClasses of a fleet: custom classes, and the classes of its drivers."""

from __future__ import annotations

from dra_planner.clouds import cloud
from dra_planner.drivers.protocol.tables import device_class
from dra_planner.fleet import Fleet
from dra_planner.model import DeviceClass
from dra_planner.releases import Features


def fleet_classes(fleet: Fleet, features: Features) -> dict[str, DeviceClass]:
    """Return the classes by name. A custom class takes precedence over a driver's class."""
    of_cloud = cloud(fleet.cloud)
    brought = (
        driver.classes(options, of_cloud, features) for driver, options in fleet.drivers.installed()
    )
    classes = {each.name: each for of_driver in brought for each in of_driver}
    for learned in (
        each for row in fleet.catalog for driver in row.drivers for each in driver.device_classes()
    ):
        classes.setdefault(learned.name, learned)
    for own in fleet.device_classes:
        extended = own.extended_resource_name if features.extended_resource else None
        classes[own.name] = device_class(own.name, *own.selectors, extended_resource=extended)
    return classes
