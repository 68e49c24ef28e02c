"""AMD's GPU driver, as its charts 1.0.0 and 1.0.1 publish GPUs that aren't partitioned.

Source: ROCm/k8s-gpu-dra-driver@2622427 (names and values). Later code publishes other attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.catalog.tables import Row, integer, read_table
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import WholeDevices
from dra_planner.drivers.protocol.driver import (
    ConfigFault,
    Driver,
    DriverNode,
    api_version_faults,
)
from dra_planner.drivers.protocol.node_slice import node_slice
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.drivers.protocol.tables import has_accelerator
from dra_planner.model import AttributeValue, Device, DeviceCapacity, ResourceSlice, Unknown
from dra_planner.quantity import Quantity

AMD_DRIVER = "gpu.amd.com"
_API_VERSION = "gpu.resource.amd.com/v1alpha1"
_OF_A_NODE = ("driverVersion", "driverSrcVersion")
_OF_A_DEVICE = ("deviceID", "pciAddr", "cardIndex", "renderIndex")


class AmdDriver(Driver[ChartOptions]):
    """AMD's GPUs."""

    name = "amd"
    title = "AMD's GPU DRA driver"
    domains: ClassVar[tuple[str, ...]] = (AMD_DRIVER,)
    options = ChartOptions
    meaning = "AMD's DRA driver for GPUs. Set to true or to a chart version."
    proposals = (("drivers.amd=true",),)
    plugin_resources: ClassVar[Mapping[str, str]] = {"amd.com/gpu": AMD_DRIVER}
    device_plugin = WholeDevices(("amd.com/gpu",), AMD_DRIVER)
    board_kind = "GPU"

    def serves(self, machine: Machine) -> bool:
        return has_accelerator(machine, "amd", "gpu")

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        accelerator = node.machine.accelerator
        if accelerator is None or not self.serves(node.machine):
            return ()
        devices = (_gpu(accelerator.model, index) for index in range(accelerator.count or 0))
        return node_slice(AMD_DRIVER, node.name, devices)

    def assumptions(self, options: ChartOptions, node: DriverNode) -> tuple[str, ...]:
        machine, accelerator = node.machine, node.machine.accelerator
        if accelerator is None or not self.serves(machine):
            return ()
        if accelerator.count is None:
            return (
                f"{machine.name}: its number of GPUs is unknown, so the plan doesn't include them",
            )
        sentences = [
            (
                f"{machine.name}: the plan assumes that its GPUs aren't partitioned (SPX), and "
                "that the amdgpu module can read their memory"
            ),
        ]
        if _row(accelerator.model) is None:
            sentences.append(f"{machine.name}: the productName and memory of its GPUs are unknown")
        return tuple(sentences)

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: ChartOptions | None
    ) -> Iterator[ConfigFault]:
        yield from api_version_faults(self.name_in_text, parameters, _API_VERSION)
        if parameters.get("kind") != "GpuConfig":
            yield ConfigFault(
                f"{self.name_in_text} supports only configurations of kind GpuConfig",
                "use kind: GpuConfig",
            )
        for key in parameters.keys() - {"apiVersion", "kind"}:
            yield ConfigFault(
                f'GpuConfig doesn\'t have a field "{key}", and the driver rejects unknown fields',
                f"remove {key}",
            )

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        # Without tolerations, the plugin doesn't run on tainted GPU nodes.
        return {"kubeletPlugin": {"tolerations": list(tolerations)}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "GPU partition" if attributes.get("type") == "amdgpu-partition" else "GPU"


def _gpu(model: str, index: int) -> Device:
    row, name = _row(model), f"gpu-{index}"
    attributes: dict[str, AttributeValue] = {
        "type": "amdgpu",
        "productName": row["product_name"] if row else Unknown("model"),
        "family": row["family"] if row else Unknown("model"),
        "partitionProfile": Unknown("node"),
        "resource.kubernetes.io/pcieRoot": Unknown(),
        **dict.fromkeys(_OF_A_NODE, Unknown("node")),
        **dict.fromkeys(_OF_A_DEVICE, Unknown(name)),
    }
    memory = integer(row, "memory_mib") if row else None
    capacity = {
        "memory": DeviceCapacity(Unknown() if memory is None else Quantity.parse(f"{memory}Mi")),
        "computeUnits": _count(row, "compute_units"),
        "simdUnits": _count(row, "simd_units"),
    }
    return Device(name=name, attributes=attributes, capacity=capacity)


def _count(row: Row | None, column: str) -> DeviceCapacity:
    number = integer(row, column) if row else None
    return DeviceCapacity(Unknown() if number is None else Quantity.from_int(number))


def _row(model: str) -> Row | None:
    return next((row for row in read_table("amd_gpus") if row["model"] == model), None)


DRIVER = AmdDriver()
