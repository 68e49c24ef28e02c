"""A cluster on GKE and a pool for claims, put together by hand."""

import pulumi

from pulumi_dra.gke import GkeCluster, GkeGpuPool, GkeNetwork

network = GkeNetwork("gpu", {"region": "us-central1", "nodes_cidr": "10.64.0.0/22"})
cluster = GkeCluster(
    "gpu",
    {
        "kubernetes_version": "1.35",
        "region": "us-central1",
        "security_group": "none",
        "network_id": network.network_id,
        "subnetwork_id": network.subnetwork_id,
        "pods_range_name": network.pods_range_name,
        "services_range_name": network.services_range_name,
        "dns_endpoint": True,
    },
)
GkeGpuPool(
    "l4",
    {
        "cluster_name": cluster.name,
        "location": "us-central1",
        "zones": ["us-central1-a"],
        "service_account": cluster.node_service_account,
        "machine": "g2-standard-8",
        "max_nodes": 4,
    },
    pulumi.ResourceOptions(depends_on=[cluster]),
)
