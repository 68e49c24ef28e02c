"""Which component allocates the devices of a pool's nodes: the DRA driver or a device plugin."""

from dra_planner.clouds import PluginServing
from pulumi_dra.inputs.reader import InputReader

DEVICE_PLUGIN = "device-plugin"


def read_plugin(read: InputReader) -> PluginServing | None:
    """Return how a device plugin serves the nodes' devices, as `allocation` says; None for DRA
    nodes.

    The plugin's own configuration decides about shares, so a label of the pool chooses it.
    """
    allocation = read.choice("allocation", ("dra", DEVICE_PLUGIN), "dra")
    return PluginServing() if allocation == DEVICE_PLUGIN else None
