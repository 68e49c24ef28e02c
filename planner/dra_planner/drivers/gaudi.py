"""Intel's Gaudi driver.

Source: intel/intel-resource-drivers-for-kubernetes:cmd/kubelet-gaudi-plugin/node_state.go@1da939f
(gaudi-v0.7.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import WholeDevices
from dra_planner.drivers.protocol.driver import ConfigFault, Driver, DriverNode
from dra_planner.drivers.protocol.node_slice import node_slice
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

GAUDI_DRIVER = "gaudi.intel.com"
# the driver's model name by the cloud's name for the board
_MODELS = {"Gaudi HL-205": "Gaudi"}


class GaudiDriver(Driver[ChartOptions]):
    """Gaudi accelerators. The driver doesn't publish capacities (memory or cores)."""

    name = "gaudi"
    title = "Intel's Gaudi DRA driver"
    domains: ClassVar[tuple[str, ...]] = (GAUDI_DRIVER,)
    options = ChartOptions
    meaning = "Intel's DRA driver for Gaudi. Set to true or to a chart version."
    proposals = (("drivers.gaudi=true",),)
    plugin_resources: ClassVar[Mapping[str, str]] = {"habana.ai/gaudi": GAUDI_DRIVER}
    device_plugin = WholeDevices(("habana.ai/gaudi",), GAUDI_DRIVER)

    def serves(self, machine: Machine) -> bool:
        return machine.accelerator is not None and machine.accelerator.vendor == "habana"

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        accelerator = node.machine.accelerator
        if accelerator is None or not self.serves(node.machine):
            return ()
        devices = (_device(accelerator.model, index) for index in range(accelerator.count or 0))
        return node_slice(GAUDI_DRIVER, node.name, devices)

    def assumptions(self, options: ChartOptions, node: DriverNode) -> tuple[str, ...]:
        if not self.serves(node.machine):
            return ()
        return (
            f"{node.machine.name}: the plan assumes that all of its Gaudi accelerators are healthy",
        )

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: ChartOptions | None
    ) -> Iterator[ConfigFault]:
        yield ConfigFault(
            f"{self.name_in_text} doesn't support opaque configuration", "remove the configuration"
        )

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        return {"kubeletPlugin": {"tolerations": list(tolerations)}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "Gaudi accelerator"


def _device(model: str, index: int) -> Device:
    name = f"gaudi-{index}"  # the driver derives the real name from the PCI address
    attributes: dict[str, AttributeValue] = {
        "model": _MODELS.get(model) or Unknown("model"),
        "serial": Unknown(),  # "" on all devices if the driver doesn't use HLML
        "healthy": True,
        "pciRoot": Unknown(),
        "resource.kubernetes.io/pcieRoot": Unknown(),
    }
    return Device(name=name, attributes=attributes)


DRIVER = GaudiDriver()
