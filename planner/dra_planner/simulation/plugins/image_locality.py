"""ImageLocality: prefers nodes that have the pod's images.

The score is always 0. New nodes have no images, and image sizes in snapshots aren't read.
"""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(name="ImageLocality", order=150, weight=1)
