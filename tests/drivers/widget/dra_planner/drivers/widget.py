"""Widgets, an invented device: one for every eight vCPUs of a machine type. This module contains
all functions of a driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.documents.models import StrictDocument
from dra_planner.drivers import ConfigFault, Driver, DriverNode
from dra_planner.errors import CatalogError, PlannerError
from dra_planner.model import AttributeValue, Device, DeviceCapacity, ResourceSlice, Unknown
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

DOMAIN = "widgets.example.org"
_VCPUS_OF_A_WIDGET = 8


class Widgets(StrictDocument):
    """The widget driver."""

    lanes: int = Field(default=1, description="Lanes of each widget.")


class WidgetDriver(Driver[Widgets]):
    """One chart, one kubelet plugin."""

    name = "widget"
    title = "Widget DRA driver"
    domains: ClassVar[tuple[str, ...]] = (DOMAIN,)
    options = Widgets
    meaning = "Widgets: true, or how many lanes each has."
    plugin_resources: ClassVar[Mapping[str, str]] = {"example.org/widget": DOMAIN}

    def serves(self, machine: Machine) -> bool:
        return machine.accelerator is None and (machine.vcpus or 0) >= _VCPUS_OF_A_WIDGET

    def slices(self, options: Widgets, node: DriverNode) -> tuple[ResourceSlice, ...]:
        if not self.serves(node.machine):
            return ()
        count = (node.machine.vcpus or 0) // _VCPUS_OF_A_WIDGET
        devices = tuple(_widget(index, options) for index in range(count))
        name = f"00000-{DOMAIN}-{node.name}"
        return (
            ResourceSlice(
                name=name, driver=DOMAIN, pool=node.name, node_name=node.name, devices=devices
            ),
        )

    def assumptions(self, options: Widgets, node: DriverNode) -> tuple[str, ...]:
        return (
            (f"{node.machine.name}: which of its widgets are polished is not known",)
            if self.serves(node.machine)
            else ()
        )

    def faults(
        self, options: Widgets, cloud: Cloud, features: Features
    ) -> Iterator[tuple[str, PlannerError]]:
        yield from super().faults(options, cloud, features)
        if options.lanes > 4:
            yield (
                "lanes",
                CatalogError(f"a widget has no {options.lanes} lanes", fix="write at most 4"),
            )

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: Widgets | None
    ) -> Iterator[ConfigFault]:
        if parameters.get("kind") != "WidgetConfig":
            yield ConfigFault(
                "the widget driver knows only WidgetConfig", "write kind: WidgetConfig"
            )

    def chart_values(
        self, options: Widgets, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        return {"lanes": options.lanes, "tolerations": list(tolerations)}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "widget"


def _widget(index: int, options: Widgets) -> Device:
    attributes: dict[str, AttributeValue] = {
        "index": index,
        "lanes": options.lanes,
        "polished": Unknown(),
    }
    return Device(
        name=f"widget-{index}",
        attributes=attributes,
        capacity={"tokens": DeviceCapacity(Quantity.parse("100"))},
    )


DRIVER = WidgetDriver()
