"""NodeName: a pod with a node name can use only that node. The allocator contains the filter."""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(name="NodeName", order=20, rejects=frozenset({"node-name"}))
