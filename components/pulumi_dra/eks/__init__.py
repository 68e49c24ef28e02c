"""EKS clusters and GPU pools for Dynamic Resource Allocation."""

from pulumi_dra.extras import require_sdk

require_sdk("pulumi_aws", "aws", "pulumi_dra.eks")

from pulumi_dra.eks.cluster import EksCluster, EksClusterArgs  # noqa: E402  # the check comes first
from pulumi_dra.eks.gpu_pool import EksGpuPool, EksGpuPoolArgs  # noqa: E402  # the check comes first
from pulumi_dra.eks.network import EksNetwork, EksNetworkArgs  # noqa: E402  # the check comes first

__all__ = ["EksCluster", "EksClusterArgs", "EksGpuPool", "EksGpuPoolArgs", "EksNetwork", "EksNetworkArgs"]
