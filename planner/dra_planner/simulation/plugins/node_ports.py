"""NodePorts: two pods can't use the same port of a host. The allocator contains the filter."""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="NodePorts", order=50, rejects=frozenset({"host-port"}), helped=frozenset({"host-port"})
)
