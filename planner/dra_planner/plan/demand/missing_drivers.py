"""Drivers that pods need but the fleet doesn't run, and the fleet settings that install them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.claims.requested_drivers import named_drivers
from dra_planner.clouds import cloud
from dra_planner.drivers import AnyDriver, availability, driver_of, every_driver, known_classes
from dra_planner.errors import CatalogError
from dra_planner.fleet import Fleet
from dra_planner.model import DeviceClass
from dra_planner.wording import either

OF_A_CLASS: Final = "DeviceClass "
"""Before the name of a class among the names of devices."""


def drivers_of_class(device_class: DeviceClass) -> set[str]:
    """Return the drivers that the selectors of a class name."""
    return named_drivers(each.expression for each in device_class.selectors)


def driver_of_name(name: str, classes: Mapping[str, DeviceClass]) -> AnyDriver | None:
    """Return the driver of a subject such as "DeviceClass NAME" or an extended resource. None if
    the driver is unknown, or if the subject is something else.
    """
    class_name = name.removeprefix(OF_A_CLASS)
    if class_name == name:
        owners = (each for each in every_driver() if name in each.plugin_resources)
        return next(owners, None)
    given, known = classes.get(class_name), known_classes().get(class_name)
    domains = drivers_of_class(given) if given else {known.driver} if known else set[str]()
    return driver_of(domains.pop()) if len(domains) == 1 else None


def driver_fix(driver: AnyDriver, fleet: Fleet) -> str:
    """Return the fleet setting that makes nodes publish a driver's devices, or "" if no setting
    does.
    """
    if any(each is driver for each, _ in fleet.drivers.installed()):
        if not any(_serves(driver, pool.machine, fleet) for pool in fleet.pools):
            return f"add a pool with devices for {driver.name_in_text} to the fleet"
        names = sorted(_class_names(driver, fleet))
        return f"request DeviceClass {either(names)}" if names else ""
    runs = availability(driver.name, fleet.cloud)
    if runs is None or runs.runs == "no":
        return ""
    value = "=true" if driver.accepts_true else ".version"
    pools = [pool.name for pool in fleet.pools if _serves(driver, pool.machine, fleet)]
    if pools:
        return f'set `drivers.{driver.name}{value}` in the fleet, so that pool "{pools[0]}" publishes these devices'
    return (
        f"add a pool with devices for {driver.name_in_text}, and set "
        f"`drivers.{driver.name}{value}` in the fleet"
    )


def _class_names(driver: AnyDriver, fleet: Fleet) -> Iterator[str]:
    features = fleet.features
    for each, options in fleet.drivers.installed():
        if each is driver:
            found = driver.classes(options, cloud(fleet.cloud), features)
            yield from (device_class.name for device_class in found)


def _serves(driver: AnyDriver, machine: str, fleet: Fleet) -> bool:
    try:
        return driver.serves(fleet.machine(machine))
    except CatalogError:
        return False
