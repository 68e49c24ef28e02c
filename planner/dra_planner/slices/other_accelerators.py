"""TPU and Neuron nodes: how many devices their drivers publish under which name; of most attributes, that they exist.

Sources: kubernetes-sigs/dra-driver-google-tpu@f5a9d8c; aws-neuron/aws-neuron-sdk:containers/neuron-dra.rst (names of
the driver and of the attributes that its examples read).
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.catalog import Machine
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

TPU_DRIVER = "tpu.google.com"
NEURON_DRIVER = "neuron.aws.com"
_TPU_UNKNOWN = ("index", "uuid", "tpuGen", "accelerator", "chipCount", "topology")
_NEURON_UNKNOWN = tuple(f"resource.aws.com/devicegroup{size}_id" for size in (1, 4, 8, 16))


def predict_accelerator_slices(machine: Machine, *, node_name: str) -> tuple[ResourceSlice, ...]:
    """Return what the TPU or Neuron driver publishes on a node, none for other machines.

    Only the number of devices and what every node of the type has in common is known; a selector that reads more
    cannot be decided. Device names are placeholders: the real ones are the node's device files.
    """
    accelerator = machine.accelerator
    if accelerator is None or accelerator.count is None:
        return ()
    if accelerator.kind == "tpu":
        known: Mapping[str, AttributeValue] = {"brand": "Google", **dict.fromkeys(_TPU_UNKNOWN, Unknown())}
        return _slice(TPU_DRIVER, "tpu", accelerator.count, known, node_name)
    if accelerator.kind == "neuron":
        known = {"instanceType": machine.instance_type, **dict.fromkeys(_NEURON_UNKNOWN, Unknown())}
        return _slice(NEURON_DRIVER, "neuron", accelerator.count, known, node_name)
    return ()


def _slice(
    driver: str, prefix: str, count: int, attributes: Mapping[str, AttributeValue], node_name: str
) -> tuple[ResourceSlice, ...]:
    devices = tuple(Device(name=f"{prefix}-{index}", attributes=attributes) for index in range(count))
    name = f"00000-{driver}-{node_name}"
    return (ResourceSlice(name=name, driver=driver, pool=node_name, node_name=node_name, devices=devices),)
