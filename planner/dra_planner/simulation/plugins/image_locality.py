"""ImageLocality: nodes that have the pod's images. The score is 0 while no image sizes of nodes are
known.

New nodes have no images; on a snapshot the sizes of images aren't read.
"""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(name="ImageLocality", order=150, weight=1)
