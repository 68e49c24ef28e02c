"""AKS clusters and GPU pools for Dynamic Resource Allocation."""

from pulumi_dra.optional_sdks import require_sdk

require_sdk("pulumi_azure_native", "azure", "pulumi_dra.aks")

# imported after the check for the SDK
from pulumi_dra.aks.cluster import AksCluster, AksClusterArgs

# imported after the check for the SDK
from pulumi_dra.aks.gpu_pool import AksGpuPool, AksGpuPoolArgs

# imported after the check for the SDK
from pulumi_dra.aks.network import AksNetwork, AksNetworkArgs

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "AksGpuPool",
    "AksGpuPoolArgs",
    "AksNetwork",
    "AksNetworkArgs",
]
