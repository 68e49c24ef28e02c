"""The interface of a driver's `from_fleet.py`, which installs it. Other drivers need only their
chart.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

import pulumi

from dra_planner.drivers import driver, names
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from pulumi_dra.dra.chart_from_fleet import ChartComponents
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


class DriverComponents(Protocol):
    """The module `pulumi_dra.dra.<driver>.from_fleet`."""

    def check(
        self, read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
    ) -> None:
        """Record in `read` which inputs the driver's components would reject, before any resource
        is declared.
        """
        ...

    def declare(
        self,
        name: str,
        inputs: DraPlatformInputs,
        fleet: Fleet,
        plan: PlanFile,
        options: pulumi.ResourceOptions,
    ) -> Sequence[pulumi.Resource]:
        """Declare the driver and return the resources that DeviceClasses and workloads must wait
        for.
        """
        ...


def driver_folders() -> tuple[str, ...]:
    """Return the drivers that have components, sorted, without importing them."""
    folders = {
        module.name
        for module in iter_modules(sys.modules["pulumi_dra.dra"].__path__)
        if module.ispkg
    }
    return tuple(name for name in names() if name in folders)


def components_of_driver(name: str) -> DriverComponents:
    """Import and return a driver's components: its folder's, or the generic Helm release."""
    if name not in driver_folders():
        return ChartComponents(driver(name))
    return cast(DriverComponents, import_module(f"pulumi_dra.dra.{name}.from_fleet"))
