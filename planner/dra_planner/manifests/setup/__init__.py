"""Check files that describe the setup of a cluster: flags, feature gates, chart values,
and queues.
"""

from dra_planner.manifests.setup.chart_objects import installs_working_driver
from dra_planner.manifests.setup.cluster_configs import config_findings
from dra_planner.manifests.setup.queues import queue_findings

__all__ = ["config_findings", "installs_working_driver", "queue_findings"]
