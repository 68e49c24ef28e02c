"""NodePorts: two pods don't share a port of one host. The allocator filters."""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="NodePorts", order=50, rejects=frozenset({"host-port"}), helped=frozenset({"host-port"})
)
