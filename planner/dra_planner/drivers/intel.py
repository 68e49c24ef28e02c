"""Intel's GPU driver: GPUs bound to a DRM driver or to VFIO.

Source: intel/intel-resource-drivers-for-kubernetes:cmd/kubelet-gpu-plugin/node_state.go@1da939f
(gpu-v0.11.0).
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
from dra_planner.drivers.protocol.tables import has_accelerator
from dra_planner.model import AttributeValue, Device, DeviceCapacity, ResourceSlice, Unknown
from dra_planner.quantity import Quantity

INTEL_DRIVER = "gpu.intel.com"
_OF_A_DEVICE = ("pciAddress", "pciRoot", "resource.kubernetes.io/pciBusID")
_MILLICORES = 1000  # capacity that every GPU publishes


class IntelDriver(Driver[ChartOptions]):
    """Intel's GPUs."""

    name = "intel"
    title = "Intel's GPU DRA driver"
    domains: ClassVar[tuple[str, ...]] = (INTEL_DRIVER,)
    options = ChartOptions
    meaning = "Intel's DRA driver for GPUs. Set to true or to a chart version."
    plugin_resources: ClassVar[Mapping[str, str]] = {
        "gpu.intel.com/i915": INTEL_DRIVER,
        "gpu.intel.com/xe": INTEL_DRIVER,
    }
    device_plugin = WholeDevices(("gpu.intel.com/i915", "gpu.intel.com/xe"), INTEL_DRIVER)
    board_kind = "GPU"

    def serves(self, machine: Machine) -> bool:
        return has_accelerator(machine, "intel", "gpu")

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        accelerator = node.machine.accelerator
        if accelerator is None or not self.serves(node.machine):
            return ()
        return node_slice(INTEL_DRIVER, node.name, map(_gpu, range(accelerator.count or 0)))

    def assumptions(self, options: ChartOptions, node: DriverNode) -> tuple[str, ...]:
        if not self.serves(node.machine):
            return ()
        return (
            f"{node.machine.name}: the model and memory of its GPUs are known only at run time",
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
        return "virtual GPU" if attributes.get("type") == "vf" else "GPU"


def _gpu(index: int) -> Device:
    name = f"gpu-{index}"  # the driver derives the real name from the PCI address
    attributes: dict[str, AttributeValue] = {
        "type": "gpu",
        "model": Unknown("model"),
        "family": Unknown("model"),
        "pciId": Unknown("model"),
        "sriov": Unknown("model"),
        "driver": Unknown("node"),
        "health": Unknown(),
        "resource.kubernetes.io/pcieRoot": Unknown(),
        **dict.fromkeys(_OF_A_DEVICE, Unknown(name)),
    }
    capacity = {
        "memory": DeviceCapacity(Unknown()),
        "millicores": DeviceCapacity(Quantity.from_int(_MILLICORES)),
    }
    return Device(name=name, attributes=attributes, capacity=capacity)


DRIVER = IntelDriver()
