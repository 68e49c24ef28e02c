"""NodeUnschedulable: cordoned nodes reject pods that don't tolerate the taint
node.kubernetes.io/unschedulable. The allocator contains the filter.
"""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(name="NodeUnschedulable", order=10, rejects=frozenset({"unschedulable"}))
