"""Google's TPU driver.

Source: kubernetes-sigs/dra-driver-google-tpu@f5a9d8c (v0.2.0), cmd/tpu-dra-kubeletplugin.
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

TPU_DRIVER = "tpu.google.com"
_UNKNOWN = ("index", "uuid", "tpuGen", "accelerator", "chipCount", "topology")


class TpuDriver(Driver[ChartOptions]):
    """Chips of Google's TPUs; a claim holds all chips of a node."""

    name = "tpu"
    title = "Google's TPU DRA driver"
    domains: ClassVar[tuple[str, ...]] = (TPU_DRIVER,)
    options = ChartOptions
    meaning = "Google's TPU driver: true, or which version of its chart."
    proposals = (("drivers.tpu=true",),)
    plugin_resources: ClassVar[Mapping[str, str]] = {"google.com/tpu": TPU_DRIVER}
    device_plugin = NoDirectCounterpart(tuple(plugin_resources), "a TPU claim must hold all TPU chips of its node")

    def serves(self, machine: Machine) -> bool:
        return has_accelerator(machine, "google", "tpu")

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        return predict_tpu_slices(node.machine, node_name=node.name)

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        return {"kubeletPlugin": {"tolerations": list(tolerations)}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "TPU chip"


def predict_tpu_slices(machine: Machine, *, node_name: str) -> tuple[ResourceSlice, ...]:
    """Return what the driver publishes on a node; empty for machine types without TPUs."""
    accelerator = machine.accelerator
    if accelerator is None or not has_accelerator(machine, "google", "tpu"):
        return ()
    known: dict[str, AttributeValue] = {"brand": "Google", **dict.fromkeys(_UNKNOWN, Unknown())}
    devices = tuple(Device(name=f"tpu-{index}", attributes=known) for index in range(accelerator.count or 0))
    name = f"00000-{TPU_DRIVER}-{node_name}"
    return (ResourceSlice(name=name, driver=TPU_DRIVER, pool=node_name, node_name=node_name, devices=devices),)


DRIVER = TpuDriver()
