"""Which component allocates the devices of a pool's nodes: the DRA driver or a device plugin."""

from dra_planner.clouds import PluginServing
from pulumi_dra.inputs.reader import InputReader

DEVICE_PLUGIN = "device-plugin"


def read_plugin(read: InputReader) -> PluginServing | None:
    """Return the device plugin's settings for the nodes' devices, from `allocation`, or None for
    DRA nodes.

    The plugin's configuration controls sharing, and a label of the pool selects it.
    """
    allocation = read.choice("allocation", ("dra", DEVICE_PLUGIN), "dra")
    return PluginServing() if allocation == DEVICE_PLUGIN else None
