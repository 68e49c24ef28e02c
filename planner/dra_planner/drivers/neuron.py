"""AWS' Neuron driver: Trainium and Inferentia.

Source: aws-neuron/aws-neuron-sdk:deploy/eks/dra.rst@81ce03a (names of the driver and of the attributes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import NoDirectCounterpart
from dra_planner.drivers.protocol.driver import Driver, DriverNode
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.drivers.protocol.tables import has_accelerator
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

NEURON_DRIVER = "neuron.aws.com"
_UNKNOWN = tuple(f"resource.aws.com/devicegroup{size}_id" for size in (1, 4, 8, 16))


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
        return predict_neuron_slices(node.machine, node_name=node.name)

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        # The device plugin of the same chart would hand out the same devices (deploy/eks/dra.rst).
        return {"draDriver": {"enabled": True}, "devicePlugin": {"enabled": False}, "npd": {"enabled": False}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "Neuron device"


def predict_neuron_slices(machine: Machine, *, node_name: str) -> tuple[ResourceSlice, ...]:
    """Return what the driver publishes on a node; empty for machine types without Neuron devices."""
    accelerator = machine.accelerator
    if accelerator is None or not has_accelerator(machine, "aws", "neuron"):
        return ()
    known: dict[str, AttributeValue] = {"instanceType": machine.instance_type, **dict.fromkeys(_UNKNOWN, Unknown())}
    devices = tuple(Device(name=f"neuron-{index}", attributes=known) for index in range(accelerator.count or 0))
    name = f"00000-{NEURON_DRIVER}-{node_name}"
    return (ResourceSlice(name=name, driver=NEURON_DRIVER, pool=node_name, node_name=node_name, devices=devices),)


DRIVER = NeuronDriver()
