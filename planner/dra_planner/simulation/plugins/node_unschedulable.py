"""NodeUnschedulable: cordoned nodes reject pods that don't tolerate it. The allocator filters."""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(name="NodeUnschedulable", order=10, rejects=frozenset({"unschedulable"}))
