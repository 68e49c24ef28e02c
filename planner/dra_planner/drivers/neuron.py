"""AWS' Neuron driver: Trainium and Inferentia.

Source: aws-neuron/aws-neuron-sdk:deploy/eks/dra.rst@81ce03a (names of the driver and of the attributes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import NoDirectCounterpart
from dra_planner.drivers.protocol.driver import Driver, DriverNode, Fault
from dra_planner.drivers.protocol.neuron_groups import neuron_groups
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.drivers.protocol.slices import node_slice
from dra_planner.drivers.protocol.tables import has_accelerator
from dra_planner.errors import CatalogError
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

NEURON_DRIVER = "neuron.aws.com"


class NeuronDriver(Driver[ChartOptions]):
    """Devices of Trainium and Inferentia."""

    name = "neuron"
    title = "AWS' Neuron DRA driver"
    domains: ClassVar[tuple[str, ...]] = (NEURON_DRIVER,)
    options = ChartOptions
    meaning = "AWS' Neuron driver: true, or which version of its chart."
    proposals = (("drivers.neuron=true",),)
    plugin_resources: ClassVar[Mapping[str, str]] = {
        "aws.amazon.com/neuron": NEURON_DRIVER,
        "aws.amazon.com/neuroncore": NEURON_DRIVER,
        "aws.amazon.com/neurondevice": NEURON_DRIVER,
    }
    device_plugin = NoDirectCounterpart(
        tuple(plugin_resources), "the devices of a Neuron claim must be connected, and it can't request cores"
    )

    def serves(self, machine: Machine) -> bool:
        return has_accelerator(machine, "aws", "neuron")

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        accelerator = node.machine.accelerator
        if accelerator is None or not self.serves(node.machine):
            return ()
        count = accelerator.count or 0
        return node_slice(NEURON_DRIVER, node.name, (_device(node.machine, index, count) for index in range(count)))

    def pool_faults(self, options: ChartOptions, cloud: Cloud, machine: Machine, mig: str) -> Iterator[Fault]:
        if self.serves(machine) and not machine.family.startswith("trn"):
            yield (
                "machine",
                CatalogError(
                    f"the chart of {self.title} runs on Trainium only, not on {machine.name} (deploy/eks/dra.rst)",
                    fix="use a trn1 or trn2 machine type",
                ),
            )

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        # The device plugin of the same chart would hand out the same devices (deploy/eks/dra.rst).
        return {"draDriver": {"enabled": True}, "devicePlugin": {"enabled": False}, "npd": {"enabled": False}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "Neuron device"


def _device(machine: Machine, index: int, count: int) -> Device:
    attributes: dict[str, AttributeValue] = {
        "deviceId": index,
        "instanceType": machine.instance_type,
        "resourceType": "neuron_device",
        "neuronDriverVersion": Unknown("node"),
        "draDriverVersion": Unknown("node"),
        **{f"networkNodeLayer{layer}": Unknown("node") for layer in (1, 2, 3)},
    }
    if count > 1 and machine.family.startswith("trn"):
        attributes |= dict.fromkeys(("topology_x", "topology_y", "topology4_id"), Unknown())
        if count >= 8:
            attributes["topology8_id"] = Unknown()
    attributes |= neuron_groups(machine).get(index, {})
    return Device(name=f"neuron-{index}", attributes=attributes)


DRIVER = NeuronDriver()
