"""Network settings of a GKE cluster: ranges, data plane, DNS, and access to the control plane."""

from typing import TypedDict

import pulumi
import pulumi_gcp as gcp

from pulumi_dra.gke.cluster.cluster_inputs import ExistingNetwork, GkeClusterInputs


class NetworkArguments(TypedDict):
    """The arguments of the cluster resource that concern its network."""

    network: pulumi.Input[str]
    subnetwork: pulumi.Input[str]
    networking_mode: str
    ip_allocation_policy: gcp.container.ClusterIpAllocationPolicyArgsDict
    datapath_provider: str
    network_policy: gcp.container.ClusterNetworkPolicyArgsDict
    enable_intranode_visibility: bool
    private_cluster_config: gcp.container.ClusterPrivateClusterConfigArgsDict
    master_authorized_networks_config: gcp.container.ClusterMasterAuthorizedNetworksConfigArgsDict
    control_plane_endpoints_config: gcp.container.ClusterControlPlaneEndpointsConfigArgsDict
    dns_config: gcp.container.ClusterDnsConfigArgsDict


def network_settings(inputs: GkeClusterInputs, network: ExistingNetwork) -> NetworkArguments:
    """Return the arguments of the cluster resource that concern its network."""
    cidrs = inputs.public_access_cidrs
    return {
        "network": network.network_id,
        "subnetwork": network.subnetwork_id,
        "networking_mode": "VPC_NATIVE",
        "ip_allocation_policy": {
            "cluster_secondary_range_name": network.pods_range_name,
            "services_secondary_range_name": network.services_range_name,
        },
        "datapath_provider": "ADVANCED_DATAPATH",
        # Dataplane V2 enforces network policies, so the separate add-on is explicitly disabled.
        "network_policy": {"enabled": False},
        "enable_intranode_visibility": True,
        "private_cluster_config": _private(not cidrs, inputs.global_access),
        "master_authorized_networks_config": {
            "cidr_blocks": [{"cidr_block": cidr} for cidr in cidrs]
        },
        # Disabled settings are sent explicitly, because the provider doesn't change a setting in
        # the cloud if its block is omitted.
        "control_plane_endpoints_config": {
            "dns_endpoint_config": {"allow_external_traffic": inputs.dns_endpoint}
        },
        "dns_config": (
            {"cluster_dns": "CLOUD_DNS", "cluster_dns_scope": "CLUSTER_SCOPE"}
            if inputs.cloud_dns
            else {"cluster_dns": "PLATFORM_DEFAULT"}
        ),
    }


def _private(
    endpoint_alone: bool, global_access: bool
) -> gcp.container.ClusterPrivateClusterConfigArgsDict:
    return {
        "enable_private_nodes": True,
        "enable_private_endpoint": endpoint_alone,
        "master_global_access_config": {"enabled": global_access},
    }
