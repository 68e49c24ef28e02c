"""The inputs of GKE clusters and pools that DraPlatform sets itself. All others are its options."""

from pulumi_dra.gke.cluster.cluster_inputs import GkeClusterArgs
from pulumi_dra.gke.pool.gpu_pool_inputs import GkeGpuPoolArgs
from pulumi_dra.platform.planned_pools import CLUSTER_SET_BY_PLATFORM, POOL_SET_BY_PLATFORM

CLUSTER_INPUTS = (GkeClusterArgs,)
POOL_INPUTS = (GkeGpuPoolArgs,)
CLUSTER_SET = {
    **CLUSTER_SET_BY_PLATFORM,
    "resource_labels": "the platform's tags",
    "node_zones": "the fleet's network.zones",
    "region": "the fleet's region",
    "zonal": "a platform's clusters are regional",
}
POOL_SET = {
    **POOL_SET_BY_PLATFORM,
    "cluster_name": "the cluster's",
    "driver_installation": "always disabled, because the platform installs the driver",
    "gpu_sharing": "the fleet's sharing.strategy",
    "gpu_sharing_clients": "the fleet's sharing.replicas",
    "location": "the fleet's region",
    "mig_partition": "the fleet's mig",
    "network_devices": "the fleet's drivers.dranet",
    "reservation_name": "the fleet's capacity.reservation",
    "resource_labels": "the platform's tags",
    "service_account": "the cluster's",
}
DEFAULTS: dict[str, str] = {}
