"""EKS clusters and GPU pools for Dynamic Resource Allocation."""

from importlib import import_module
from typing import TYPE_CHECKING

from pulumi_dra.optional_sdks import require_sdk

require_sdk("pulumi_aws", "aws", "pulumi_dra.eks")

# imported after the check for the SDK
from pulumi_dra.eks.cluster.cluster import EksCluster, EksClusterArgs

# imported after the check for the SDK
from pulumi_dra.eks.network.network import EksNetwork, EksNetworkArgs

# imported after the check for the SDK
from pulumi_dra.eks.pool.gpu_pool import EksGpuPool, EksGpuPoolArgs

if TYPE_CHECKING:
    from pulumi_dra.eks.autoscaler.autoscaler_inputs import EksClusterAutoscalerArgs
    from pulumi_dra.eks.autoscaler.cluster_autoscaler import EksClusterAutoscaler
    from pulumi_dra.eks.karpenter.controller import EksKarpenter
    from pulumi_dra.eks.karpenter.controller_inputs import EksKarpenterArgs
    from pulumi_dra.eks.karpenter.pool import EksKarpenterPool
    from pulumi_dra.eks.karpenter.pool_inputs import EksKarpenterPoolArgs

__all__ = [
    "EksCluster",
    "EksClusterArgs",
    "EksClusterAutoscaler",
    "EksClusterAutoscalerArgs",
    "EksGpuPool",
    "EksGpuPoolArgs",
    "EksKarpenter",
    "EksKarpenterArgs",
    "EksKarpenterPool",
    "EksKarpenterPoolArgs",
    "EksNetwork",
    "EksNetworkArgs",
]
_WITH_KUBERNETES = {
    "EksClusterAutoscaler": "pulumi_dra.eks.autoscaler.cluster_autoscaler",
    "EksClusterAutoscalerArgs": "pulumi_dra.eks.autoscaler.autoscaler_inputs",
    "EksKarpenter": "pulumi_dra.eks.karpenter.controller",
    "EksKarpenterArgs": "pulumi_dra.eks.karpenter.controller_inputs",
    "EksKarpenterPool": "pulumi_dra.eks.karpenter.pool",
    "EksKarpenterPoolArgs": "pulumi_dra.eks.karpenter.pool_inputs",
}
"""Components that need the Kubernetes SDK. They are imported on first use."""


def __getattr__(name: str) -> object:
    if name in _WITH_KUBERNETES:
        return getattr(import_module(_WITH_KUBERNETES[name]), name)
    raise AttributeError(f"module 'pulumi_dra.eks' has no attribute {name!r}")
