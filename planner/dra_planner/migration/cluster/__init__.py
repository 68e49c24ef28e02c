"""A running cluster before its migration: the users of devices, their allocators, and the pods that
would be lost.

report_cluster(sources, target) -> ClusterReport
"""

from dra_planner.migration.cluster.device_users import DeviceUser, PodLoss, results
from dra_planner.migration.cluster.pools import PoolDevices
from dra_planner.migration.cluster.report import (
    ClusterReport,
    classes_served,
    cluster_version,
    report_cluster,
)

__all__ = [
    "ClusterReport",
    "DeviceUser",
    "PodLoss",
    "PoolDevices",
    "classes_served",
    "cluster_version",
    "report_cluster",
    "results",
]
