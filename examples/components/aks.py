"""A cluster on AKS and a pool for claims, put together by hand."""

import pulumi
import pulumi_azure_native as azure

from pulumi_dra.aks import AksCluster, AksGpuPool, AksNetwork

group = azure.resources.ResourceGroup("gpu", location="eastus")
network = AksNetwork("gpu", {"location": "eastus", "resource_group_name": group.name})
cluster = AksCluster(
    "gpu",
    {
        "kubernetes_version": "1.35",
        "location": "eastus",
        "resource_group_name": group.name,
        "subnet_id": network.subnet_id,
        "public_access_cidrs": ["198.18.0.0/24"],
    },
)
AksGpuPool(
    "t4",
    {
        "cluster_name": cluster.name,
        "resource_group_name": cluster.resource_group_name,
        "subnet_id": cluster.subnet_id,
        "location": "eastus",
        "machine": "Standard_NC64as_T4_v3",
        "max_nodes": 4,
    },
    pulumi.ResourceOptions(depends_on=[cluster]),
)
