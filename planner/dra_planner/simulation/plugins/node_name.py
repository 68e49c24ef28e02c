"""NodeName: a pod that names its node goes nowhere else. The allocator filters."""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(name="NodeName", order=20, rejects=frozenset({"node-name"}))
