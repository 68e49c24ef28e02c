"""The inputs of AKS clusters and pools that DraPlatform sets itself. All others are its options."""

from pulumi_dra.aks.cluster_inputs import AksClusterArgs
from pulumi_dra.aks.gpu_pool_inputs import AksGpuPoolArgs
from pulumi_dra.platform.planned_pools import CLUSTER_SET_BY_PLATFORM, POOL_SET_BY_PLATFORM

CLUSTER_INPUTS = (AksClusterArgs,)
POOL_INPUTS = (AksGpuPoolArgs,)
CLUSTER_SET = {
    **CLUSTER_SET_BY_PLATFORM,
    "location": "the fleet's region",
    "subnet_id": "the fleet's network.subnetIds",
    "system_zones": "the fleet's network.zones",
    "tags": "the platform's tags",
}
POOL_SET = {
    **POOL_SET_BY_PLATFORM,
    "cluster_name": "the cluster's",
    "cluster_principal_id": "the cluster's",
    "gpu_driver": "always Install, because the DRA driver needs the NVIDIA driver",
    "gpu_instance_profile": "the fleet's mig",
    "kubernetes_version": "the fleet's kubernetes",
    "location": "the fleet's region",
    "reservation_group_id": "the fleet's capacity.reservation",
    "resource_group_name": "the cluster's",
    "subnet_id": "the network's",
    "tags": "the platform's tags",
}
DEFAULTS: dict[str, str] = {}
