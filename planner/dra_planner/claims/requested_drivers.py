"""Find the driver of a request, if the selectors of its class name the driver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from dra_planner.drivers import known_classes
from dra_planner.model import DeviceClass, ExactDeviceRequest

_DRIVER: Final = re.compile(r"""\bdevice\.driver\s*==\s*["']([^"']+)["']""")


def named_drivers(expressions: Iterable[str]) -> set[str]:
    """Return the drivers with which CEL expressions compare `device.driver`."""
    return {name for text in expressions for name in _DRIVER.findall(text)}


def driver_of_request(way: ExactDeviceRequest, classes: Mapping[str, DeviceClass]) -> str:
    """Return the name of the driver whose devices a request selects, or "" if the request's class
    doesn't select exactly one driver.

    A class that isn't in `classes` counts as the driver chart's class with that name.
    """
    known = classes.get(way.device_class_name)
    if known is None:
        of_chart = known_classes().get(way.device_class_name)
        return of_chart.driver if of_chart is not None else ""
    found = named_drivers(each.expression for each in (*known.selectors, *way.selectors))
    return found.pop() if len(found) == 1 else ""
