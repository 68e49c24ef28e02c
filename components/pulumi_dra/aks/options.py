"""What DraPlatform sets of AKS clusters and pools itself; all other inputs of theirs are its options."""

from pulumi_dra.aks.cluster_inputs import AksClusterArgs
from pulumi_dra.aks.gpu_pool_inputs import AksGpuPoolArgs
from pulumi_dra.planned_pools import SET_BY_PLATFORM

CLUSTER_INPUTS = (AksClusterArgs,)
POOL_INPUTS = (AksGpuPoolArgs,)
CLUSTER_SET = {
    "kubernetes_version": "the fleet's kubernetes",
    "location": "the fleet's region",
    "public_access_cidrs": "the fleet's endpoint.publicAccessCidrs",
    "subnet_id": "the fleet's network.subnetIds",
    "system_count": "the fleet's systemPool.count",
    "system_machine": "the fleet's systemPool.machine",
    "system_zones": "the fleet's network.zones",
    "secrets_kms_key": "secrets_kms_key of the platform",
    "deletion_protection": "deletion_protection of the platform",
    "tags": "tags of the platform",
}
POOL_SET = {
    **SET_BY_PLATFORM,
    "cluster_name": "the cluster's",
    "cluster_principal_id": "the cluster's",
    "gpu_driver": "Install alone: the image brings it",
    "gpu_instance_profile": "refused with DRA",
    "kubernetes_version": "the fleet's kubernetes",
    "location": "the fleet's region",
    "reservation_group_id": "the fleet's capacity.reservation",
    "resource_group_name": "the cluster's",
    "subnet_id": "the network's",
    "tags": "tags of the platform",
}
DEFAULTS: dict[str, str] = {}
