"""The inputs of EKS clusters and pools that DraPlatform sets itself. All others are its options."""

from pulumi_dra.eks.cluster.cluster_inputs import EksClusterArgs
from pulumi_dra.eks.karpenter.pool_inputs import EksKarpenterPoolArgs
from pulumi_dra.eks.pool.gpu_pool_inputs import EksGpuPoolArgs
from pulumi_dra.platform.planned_pools import CLUSTER_SET_BY_PLATFORM, POOL_SET_BY_PLATFORM

CLUSTER_INPUTS = (EksClusterArgs,)
POOL_INPUTS = (EksGpuPoolArgs, EksKarpenterPoolArgs)
CLUSTER_SET = {
    **CLUSTER_SET_BY_PLATFORM,
    "addon_versions": "the platform's addon_versions",
    "admin_principal_arns": "the platform's admin_principal_arns",
    "prefix_delegation": "the fleet's network.prefixDelegation",
    "subnet_ids": "the fleet's network.subnetIds",
    "tags": "the platform's tags",
    "zone_count": "the fleet's network.zones",
    "zones": "the fleet's network.zones",
}
POOL_SET = {
    **POOL_SET_BY_PLATFORM,
    "cluster_certificate_authority": "the cluster's",
    "cluster_endpoint": "the cluster's",
    "cluster_name": "the cluster's",
    "cluster_security_group_id": "the cluster's",
    "image": "the fleet's image.family",
    "instance_profile_name": "the instance profile for the nodes' role, which the Karpenter "
    "component creates",
    "keep_subnets": "pools without zones keep their current zones",
    "kubernetes_version": "the fleet's kubernetes",
    "node_role_arn": "the cluster's",
    "nodes": "the plan",
    "reservation_id": "the fleet's capacity.reservation",
    "reserved_cpu": "the fleet's reserved.cpu",
    "reserved_memory": "the fleet's reserved.memory",
    "service_cidr": "the cluster's",
    "subnet_ids": "the network's",
    "tags": "the platform's tags",
    "vpc_id": "the network's",
    "zone": "the fleet's zones",
}
DEFAULTS: dict[str, str] = {
    "efa": "true if the fleet uses DRANET and the machine type supports EFA",
    "node_monitoring": "true if a pool has node_repair",
}
