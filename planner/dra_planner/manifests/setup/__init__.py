"""How a cluster is set up, as files say it: flags and gates, charts' values, queues; what of it
does not work.
"""

from dra_planner.manifests.setup.cluster_configs import config_findings
from dra_planner.manifests.setup.queues import queue_findings

__all__ = ["config_findings", "queue_findings"]
