"""Parts of a managed cluster's request: API server access, outbound traffic, encryption, and
monitoring.
"""

import pulumi
from pulumi_azure_native import containerservice

from pulumi_dra.aks.cluster_inputs import AksClusterInputs

LEFT_ALONE = [
    "agentPoolProfiles",
    "autoScalerProfile",
    "azureMonitorProfile",
    "bootstrapProfile",
    "fqdnSubdomain",
    "httpProxyConfig",
    "identityProfile",
    "ingressProfile",
    "linuxProfile",
    "metricsProfile",
    "networkProfile.loadBalancerProfile",
    "privateLinkResources",
    "serviceMeshProfile",
    "servicePrincipalProfile",
    "storageProfile",
    "windowsProfile",
    "workloadAutoScalerProfile",
]
"""Settings that an imported cluster keeps. The component doesn't send them, because removing them
would replace the cluster (linuxProfile, windowsProfile, fqdnSubdomain) or break its workloads.
"""


def entra_profile(
    admin_group_object_ids: list[str],
) -> containerservice.ManagedClusterAADProfileArgsDict:
    """Return the settings of Microsoft Entra ID, whose groups administer the cluster."""
    return {
        "managed": True,
        "enable_azure_rbac": True,
        "admin_group_object_ids": admin_group_object_ids,
    }


def addon_profiles() -> dict[str, containerservice.ManagedClusterAddonProfileArgsDict]:
    """Return the add-ons that every cluster has: Azure Policy and the Key Vault CSI driver."""
    return {
        "azurepolicy": {"enabled": True},
        "azureKeyvaultSecretsProvider": {
            "enabled": True,
            "config": {"enableSecretRotation": "true"},
        },
    }


def api_server_access(
    cidrs: list[str], egress: pulumi.Output[str] | None
) -> containerservice.ManagedClusterAPIServerAccessProfileArgsDict:
    """Return the API server's access settings: access from these networks and the nodes, or only
    from inside the network.
    """
    if not cidrs:
        return {
            "enable_private_cluster": True,
            "private_dns_zone": "system",
            "disable_run_command": True,
        }
    # Nodes reach a public API server from their outbound address. AKS itself adds the outbound
    # address of a load balancer.
    own: list[pulumi.Input[str]] = (
        [] if egress is None else [egress.apply(lambda address: f"{address}/32")]
    )
    return {"authorized_ip_ranges": [*cidrs, *own], "disable_run_command": True}


def network_profile(
    inputs: AksClusterInputs,
) -> containerservice.ContainerServiceNetworkProfileArgsDict:
    """Return the network of pods and services, and the outbound type of nodes."""
    profile: containerservice.ContainerServiceNetworkProfileArgsDict = {
        "network_plugin": "azure",
        "network_plugin_mode": "overlay",
        "network_dataplane": "cilium",
        "network_policy": "cilium",
        "load_balancer_sku": "standard",
        "outbound_type": inputs.outbound_type,
    }
    ranges = inputs.ranges
    if ranges.pods is not None:
        profile["pod_cidr"] = ranges.pods
    if ranges.services is not None and ranges.dns_address is not None:
        profile["service_cidr"], profile["dns_service_ip"] = ranges.services, ranges.dns_address
    return profile


def security_profile(
    inputs: AksClusterInputs, workspace: pulumi.Input[str]
) -> containerservice.ManagedClusterSecurityProfileArgsDict:
    """Return the settings of workload identity, image cleaner, the key of secrets, and Defender."""
    profile: containerservice.ManagedClusterSecurityProfileArgsDict = {
        "workload_identity": {"enabled": True},
        "image_cleaner": {"enabled": True, "interval_hours": 168},
    }
    if inputs.secrets_kms_key is not None:
        # A private vault needs an API server inside the network:
        # learn.microsoft.com/azure/aks/use-kms-etcd-encryption.
        profile["azure_key_vault_kms"] = {
            "enabled": True,
            "key_id": inputs.secrets_kms_key,
            "key_vault_network_access": "Public",
        }
    if inputs.defender:
        profile["defender"] = {
            "log_analytics_workspace_resource_id": workspace,
            "security_monitoring": {"enabled": True},
        }
    return profile
