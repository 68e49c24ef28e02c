"""Google's TPU driver.

Source: kubernetes-sigs/dra-driver-google-tpu@f5a9d8c (v0.2.0), cmd/tpu-dra-kubeletplugin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.protocol.device_plugin import NoDirectCounterpart
from dra_planner.drivers.protocol.driver import ConfigFault, Driver, DriverNode, Fault
from dra_planner.drivers.protocol.node_slice import node_slice
from dra_planner.drivers.protocol.options import ChartOptions
from dra_planner.drivers.protocol.tables import has_accelerator
from dra_planner.errors import CatalogError
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

TPU_DRIVER = "tpu.google.com"
VERSION = "0.2.0"
_GENERATIONS = {"tpu-v6e": "v6e", "tpu-v5-lite": "v5litepod", "tpu-v5p": "v5p", "tpu-v4": "v4"}
_SINGLE_HOST = frozenset({"v5e", "v6e"})
_TOPOLOGIES = {1: "1x1", 2: "1x2", 4: "2x2", 8: "2x4"}


class TpuDriver(Driver[ChartOptions]):
    """Chips of Google's TPUs. A claim gets all chips of a node."""

    name = "tpu"
    title = "Google's TPU DRA driver"
    domains: ClassVar[tuple[str, ...]] = (TPU_DRIVER,)
    options = ChartOptions
    meaning = "Google's DRA driver for TPUs. Set to true or to a chart version."
    proposals = (("drivers.tpu=true",),)
    partial_claim_error = (  # cmd/tpu-dra-kubeletplugin/state.go, prepareDevices
        "claim requests partial tpu devices ({asked}), only requests for all tpu devices ({there}) "
        "on the node are "
        "supported"
    )
    plugin_resources: ClassVar[Mapping[str, str]] = {"google.com/tpu": TPU_DRIVER}
    device_plugin = NoDirectCounterpart(
        tuple(plugin_resources), "a TPU claim must request all TPU chips on its node"
    )

    def serves(self, machine: Machine) -> bool:
        return has_accelerator(machine, "google", "tpu")

    def slices(self, options: ChartOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        return (
            node_slice(TPU_DRIVER, node.name, _chips(node.machine))
            if self.serves(node.machine)
            else ()
        )

    def pool_faults(
        self, options: ChartOptions, cloud: Cloud, machine: Machine, mig: str
    ) -> Iterator[Fault]:
        if self.serves(machine) and not _generation(
            machine.accelerator.gke_type if machine.accelerator else None
        ):
            model = machine.accelerator.model if machine.accelerator else ""
            yield (
                "machine",
                CatalogError(
                    f"{self.name_in_text} {VERSION} doesn't support {model}",
                    fix="use another machine type",
                ),
            )

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: ChartOptions | None
    ) -> Iterator[ConfigFault]:
        yield ConfigFault(
            f"{self.name_in_text} doesn't support opaque configuration", "remove the configuration"
        )

    def assumptions(self, options: ChartOptions, node: DriverNode) -> tuple[str, ...]:
        if not self.serves(node.machine):
            return ()
        where = (
            "is a separate TPU slice"
            if _topology(node.machine)
            else "belongs to a larger TPU slice"
        )
        return (
            (
                f"{node.machine.name}: each node {where}, and the names of its chips are known "
                "only at run time"
            ),
        )

    def chart_values(
        self, options: ChartOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        return {"kubeletPlugin": {"tolerations": list(tolerations)}}

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "TPU chip"


def _chips(machine: Machine) -> list[Device]:
    accelerator = machine.accelerator
    count = (accelerator.count or 0) if accelerator is not None else 0
    label = accelerator.gke_type if accelerator is not None else None
    shared: dict[str, AttributeValue] = {
        "brand": "Google",
        "accelerator": label or Unknown("node"),
        "tpuGen": _generation(label) or Unknown("node"),
        "chipCount": count,
        "topology": _topology(machine) or Unknown("node"),
        "uuid": Unknown("node"),  # derived from the node's name, and equal on all its chips
    }
    return [
        Device(name=f"tpu-{index}", attributes={**shared, "index": index}) for index in range(count)
    ]


def _generation(label: str | None) -> str:
    """Return the value that the driver derives from the accelerator's label, or "" for an unknown
    label.
    """
    return next(
        (
            name
            for part, name in _GENERATIONS.items()
            if label is not None and label.startswith(part)
        ),
        "",
    )


def _topology(machine: Machine) -> str:
    """Return the topology of a node that is a complete slice, or "" for machine types that exist
    only in larger slices.
    """
    accelerator = machine.accelerator
    if accelerator is None or accelerator.model not in _SINGLE_HOST:
        return ""
    return _TOPOLOGIES.get(accelerator.count or 0, "")


DRIVER = TpuDriver()
