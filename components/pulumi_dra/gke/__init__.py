"""GKE clusters and GPU pools for Dynamic Resource Allocation."""

from pulumi_dra.optional_sdks import require_sdk

require_sdk("pulumi_gcp", "gcp", "pulumi_dra.gke")

from pulumi_dra.gke.cluster.cluster import GkeCluster, GkeClusterArgs  # the check comes first
from pulumi_dra.gke.network.network import GkeNetwork, GkeNetworkArgs  # the check comes first
from pulumi_dra.gke.pool.gpu_pool import GkeGpuPool, GkeGpuPoolArgs  # the check comes first

__all__ = [
    "GkeCluster",
    "GkeClusterArgs",
    "GkeGpuPool",
    "GkeGpuPoolArgs",
    "GkeNetwork",
    "GkeNetworkArgs",
]
