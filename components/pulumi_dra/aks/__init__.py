"""AKS clusters and GPU pools for Dynamic Resource Allocation."""

from pulumi_dra.optional_sdks import require_sdk

require_sdk("pulumi_azure_native", "azure", "pulumi_dra.aks")

from pulumi_dra.aks.cluster import AksCluster, AksClusterArgs  # the check comes first
from pulumi_dra.aks.gpu_pool import AksGpuPool, AksGpuPoolArgs  # the check comes first
from pulumi_dra.aks.network import AksNetwork, AksNetworkArgs  # the check comes first

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "AksGpuPool",
    "AksGpuPoolArgs",
    "AksNetwork",
    "AksNetworkArgs",
]
