"""The AWS Neuron driver: Trainium and Inferentia.

Source: aws-neuron/aws-neuron-sdk:deploy/eks/dra.rst@81ce03a (names of the driver and of the
attributes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import NoDirectCounterpart
from dra_planner.drivers.protocol.driver import (
    ConfigFault,
    Driver,
    DriverNode,
    api_version_faults,
)
from dra_planner.drivers.protocol.neuron_groups import neuron_groups
from dra_planner.drivers.protocol.node_slice import node_slice
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.drivers.protocol.tables import has_accelerator
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown
from dra_planner.wording import either, listed

NEURON_DRIVER = "neuron.aws.com"
_TOLERATED = tuple(
    {"key": key, "operator": "Exists"} for key in ("CriticalAddonsOnly", "aws.amazon.com/neuron")
)
_API_VERSION = "neuron.aws.com/v1"
_CONFIGURED = {
    "NeuronConfig": ("logicalNeuronCore", (1, 2)),
    "UltraServerConfig": ("ultraserverMode", (2, 4)),
}


class NeuronDriver(Driver[ChartOptions]):
    """Devices of Trainium and Inferentia."""

    name = "neuron"
    title = "AWS Neuron DRA driver"
    domains: ClassVar[tuple[str, ...]] = (NEURON_DRIVER,)
    options = ChartOptions
    meaning = "The AWS DRA driver for Neuron. Set to true or to a chart version."
    proposals = (("drivers.neuron=true",),)
    plugin_resources: ClassVar[Mapping[str, str]] = {
        "aws.amazon.com/neuron": NEURON_DRIVER,
        "aws.amazon.com/neuroncore": NEURON_DRIVER,
        "aws.amazon.com/neurondevice": NEURON_DRIVER,
    }
    device_plugin = NoDirectCounterpart(
        tuple(plugin_resources),
        "a Neuron claim must request connected devices, and it can't request cores",
    )

    def serves(self, machine: Machine) -> bool:
        return has_accelerator(machine, "aws", "neuron")

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        accelerator = node.machine.accelerator
        if accelerator is None or not self.serves(node.machine):
            return ()
        count = accelerator.count or 0
        return node_slice(
            NEURON_DRIVER,
            node.name,
            (_device(node.machine, index, count) for index in range(count)),
        )

    def assumptions(self, options: ChartOptions, node: DriverNode) -> tuple[str, ...]:
        if not self.serves(node.machine) or not node.machine.family.startswith("inf"):
            return ()
        # The guide of EKS and deploy/files/manifests/daemonset.yaml contradict each other.
        return (
            f"{node.machine.name}: the plan assumes that {self.name_in_text} supports Inferentia. "
            "AWS documents support for Inferentia2, but the driver's published DaemonSet "
            "selects only Trainium instance types",
        )

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: ChartOptions | None
    ) -> Iterator[ConfigFault]:
        yield from api_version_faults(self.name_in_text, parameters, _API_VERSION)
        kind = str(parameters.get("kind", ""))
        if kind not in _CONFIGURED:
            yield ConfigFault(
                f"{self.name_in_text} supports only {listed(_CONFIGURED)}",
                "use kind: NeuronConfig",
            )
            return
        key, allowed = _CONFIGURED[kind]
        if parameters.get(key) not in allowed:
            numbers = either(map(str, allowed))
            yield ConfigFault(
                f"{key} of {kind} must be {numbers}, not {parameters.get(key)}",
                f"set {key} to {allowed[-1]}",
            )

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        # The device plugin in the same chart would allocate the same devices (deploy/eks/dra.rst).
        # The driver's DaemonSet tolerates these taints by default, and a list in the values
        # replaces the chart's list.
        driver: dict[str, Any] = {"enabled": True}
        if tolerations:
            driver["tolerations"] = [*_TOLERATED, *tolerations]
        return {"draDriver": driver, "devicePlugin": {"enabled": False}, "npd": {"enabled": False}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "Neuron device"


def _device(machine: Machine, index: int, count: int) -> Device:
    attributes: dict[str, AttributeValue] = {
        "deviceId": index,
        "instanceType": machine.instance_type,
        "resourceType": "neuron_device",
        "neuronDriverVersion": Unknown("node", like="2.25.4.0"),
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
