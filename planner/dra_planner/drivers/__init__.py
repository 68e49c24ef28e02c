"""Differences between device drivers, in one module or folder for each driver.

Except for `protocol`, every module or package here describes the driver with its name in fleets,
and contains one `DRIVER`. The package's path is extended over `sys.path`, so a distribution adds a
driver with one module `dra_planner/drivers/<name>.py` and tables in `dra_planner/data/`. Drivers
are imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from os.path import exists, join
from pkgutil import extend_path, iter_modules
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import PluginFacts, VendorDevicePlugin
from dra_planner.drivers.protocol.driver import ConfigFault, Driver, DriverNode
from dra_planner.drivers.protocol.tables import (
    Availability,
    KnownClass,
    availability,
    known_classes,
)
from dra_planner.drivers.protocol.versions import chart_version_fault
from dra_planner.errors import CatalogError

__path__ += [
    folder
    for folder in extend_path(list[str](), __name__)
    if not exists(join(folder, "__init__.py"))
]

__all__ = [
    "Availability",
    "ConfigFault",
    "Driver",
    "DriverNode",
    "KnownClass",
    "availability",
    "chart_version_fault",
    "class_name_fault",
    "driver",
    "driver_of",
    "every_driver",
    "is_counted",
    "is_managed",
    "is_other_resource",
    "known_classes",
    "names",
    "plugin_of",
    "publishers_of",
    "replacing_class",
]
AnyDriver = Driver[Any]
_NOT_DRIVERS = frozenset({"protocol", "catalog_page"})
_CLASS_NAME = "[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"


@cache
def names() -> tuple[str, ...]:
    """Return the names of the drivers that a fleet can use, sorted, without importing the
    drivers.
    """
    return tuple(sorted({module.name for module in iter_modules(__path__)} - _NOT_DRIVERS))


@cache
def driver(name: str) -> AnyDriver:
    """Return the driver with this name, for example "nvidia".

    Raises CatalogError with the known names.
    """
    if name not in names():
        raise CatalogError(
            f'"{name}" isn\'t a known driver', fix=f"use one of these drivers: {', '.join(names())}"
        )
    found: AnyDriver = import_module(f"{__name__}.{name}").DRIVER
    return found


def every_driver() -> tuple[AnyDriver, ...]:
    """Return all drivers, sorted by name."""
    return tuple(driver(name) for name in names())


def driver_of(domain: str) -> AnyDriver | None:
    """Return the driver with this name in ResourceSlices ("gpu.example.com"), or None if it's
    unknown.
    """
    return _by_domain().get(domain)


def plugin_of(machine: Machine) -> VendorDevicePlugin | None:
    """Return the vendor's device plugin for the accelerators of a machine type, or None if it's
    unknown.
    """
    plugins = (each.device_plugin for each in every_driver() if each.serves_accelerator(machine))
    return next((each for each in plugins if each is not None and each.is_installable), None)


def publishers_of(resource: str) -> frozenset[str]:
    """Return the DRA drivers that publish the devices of an extended resource, by their names in
    ResourceSlices.
    """
    return frozenset(
        domain
        for each in every_driver()
        if each.device_plugin is not None and each.device_plugin.counts_devices(resource)
        for domain in each.domains
        if domain not in each.uncounted
    )


def is_other_resource(resource: str) -> bool:
    """Return whether an extended resource is in the domain of a vendor with a known driver, but
    doesn't count the driver's devices, such as a network function in NVIDIA's domain.
    """
    plugins = [each.device_plugin for each in every_driver() if each.device_plugin is not None]
    return any(each.serves(resource) and not each.counts_devices(resource) for each in plugins)


def replacing_class(resource: str) -> str:
    """Return the DeviceClass whose claims replace an extended resource, or "" if claims can't
    replace the resource.
    """
    plugins = (each.device_plugin for each in every_driver())
    plugin = next((each for each in plugins if each is not None and each.serves(resource)), None)
    return plugin.class_of(resource, PluginFacts()) if plugin is not None else ""


def is_managed(each: AnyDriver, cloud: Cloud) -> bool:
    """Return whether the cloud itself runs a driver, so that it isn't installed."""
    known = availability(each.name, cloud.name)
    return known is not None and known.is_managed


def is_counted(domain: str) -> bool:
    """Return whether devices published under this name count as hardware."""
    owner = driver_of(domain)
    return owner is None or domain not in owner.uncounted


def class_name_fault(name: str) -> str:
    """Return why a platform's custom DeviceClass can't have this name, or ""."""
    if not re.fullmatch(_CLASS_NAME, name):
        return f'"{name}" isn\'t a valid name; use lowercase letters, digits, dashes, and dots'
    known = known_classes().get(name)
    owner = driver_of(known.driver) if known is not None else None
    return owner.class_fault(name) if owner is not None else ""


@cache
def _by_domain() -> Mapping[str, AnyDriver]:
    return {domain: each for each in every_driver() for domain in each.domains}
