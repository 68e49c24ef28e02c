"""GKE clusters and GPU pools for Dynamic Resource Allocation."""

from pulumi_dra.optional_sdks import require_sdk

require_sdk("pulumi_gcp", "gcp", "pulumi_dra.gke")

# imported after the check for the SDK
from pulumi_dra.gke.cluster.cluster import GkeCluster, GkeClusterArgs

# imported after the check for the SDK
from pulumi_dra.gke.network.network import GkeNetwork, GkeNetworkArgs

# imported after the check for the SDK
from pulumi_dra.gke.pool.gpu_pool import GkeGpuPool, GkeGpuPoolArgs

__all__ = [
    "GkeCluster",
    "GkeClusterArgs",
    "GkeGpuPool",
    "GkeGpuPoolArgs",
    "GkeNetwork",
    "GkeNetworkArgs",
]
