"""A cluster on EKS and pools for claims, put together by hand."""

import pulumi
import pulumi_kubernetes as k8s

from pulumi_dra.dra import DeviceDriver
from pulumi_dra.eks import (
    EksCluster,
    EksClusterAutoscaler,
    EksGpuPool,
    EksKarpenter,
    EksKarpenterPool,
    EksNetwork,
)

network = EksNetwork("gpu", {"zones": ["us-east-1a", "us-east-1b"], "interface_endpoints": ["ssm"]})
cluster = EksCluster(
    "gpu",
    {
        "kubernetes_version": "1.35",
        "subnet_ids": network.private_subnet_ids,
        "public_access_cidrs": ["198.18.0.0/24"],
        "node_monitoring": True,
    },
)
EksGpuPool(
    "l4",
    {
        "cluster_name": cluster.name,
        "node_role_arn": cluster.node_role_arn,
        "subnet_ids": cluster.subnet_ids,
        "machine": "g6.2xlarge",
        "max_nodes": 4,
        "node_repair": True,
    },
    pulumi.ResourceOptions(depends_on=[cluster]),
)

# Add and remove nodes. Use only one of these two components.
inside = pulumi.ResourceOptions(providers=[k8s.Provider("gpu", kubeconfig=cluster.kubeconfig_json)])
EksClusterAutoscaler("gpu", {"cluster_name": cluster.name, "kubernetes_version": "1.35"}, inside)
karpenter = EksKarpenter(
    "gpu",
    {
        "cluster_name": cluster.name,
        "cluster_endpoint": cluster.endpoint,
        "kubernetes_version": "1.35",
        "node_role_arn": cluster.node_role_arn,
    },
    inside,
)
EksKarpenterPool(
    "h100",
    {
        "instance_profile_name": karpenter.instance_profile_name,
        "subnet_ids": cluster.subnet_ids,
        "cluster_security_group_id": cluster.cluster_security_group_id,
        "machine": "p5.48xlarge",
        "image": "al2023",
        "nodes": 1,
        "max_nodes": 4,
    },
    inside,
)

# A driver that is installed from a local chart folder.
DeviceDriver(
    "simulated",
    {"driver": "example", "platform": "eks", "chart": "./charts/dra-example-driver"},
    inside,
)
