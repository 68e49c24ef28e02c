"""The example driver of SIG Node: eight GPUs that don't exist, on every node.

Source: kubernetes-sigs/dra-example-driver@31914ce.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.driver import Driver, DriverNode
from dra_planner.drivers.protocol.node_slice import node_slice
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.model import (
    AttributeValue,
    Device,
    DeviceCapacity,
    ResourceSlice,
    Unknown,
    Version,
)
from dra_planner.quantity import Quantity

EXAMPLE_DRIVER = "gpu.example.com"
_GPUS = 8


class ExampleDriver(Driver[ChartOptions]):
    """Simulated GPUs for trying claims on any machine type."""

    name = "example"
    title = "DRA example driver"
    domains: ClassVar[tuple[str, ...]] = (EXAMPLE_DRIVER,)
    options = ChartOptions
    meaning = (
        "SIG Node's example DRA driver, with eight simulated GPUs on every node. Set to true "
        "or to a version."
    )

    def serves(self, machine: Machine) -> bool:
        return True

    def serves_accelerator(self, machine: Machine) -> bool:
        return False  # the devices don't depend on the machine

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        return node_slice(EXAMPLE_DRIVER, node.name, map(_gpu, range(_GPUS)))

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        return {"kubeletPlugin": {"tolerations": list(tolerations)}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "simulated GPU"


def _gpu(index: int) -> Device:
    attributes: dict[str, AttributeValue] = {
        "index": index,
        "uuid": Unknown(f"gpu-{index}"),  # derived from the node's name
        "model": "LATEST-GPU-MODEL",
        "driverVersion": Version("1.0.0"),
    }
    capacity = {
        "memory": DeviceCapacity(Quantity.parse("80Gi")),
        "compute": DeviceCapacity(Quantity.parse("100")),
    }
    return Device(name=f"gpu-{index}", attributes=attributes, capacity=capacity)


DRIVER = ExampleDriver()
