"""AKS resources of pulumi-azure, which rules read as resources of azure-native.

Source: hashicorp/terraform-provider-azurerm:website/docs/r/kubernetes_cluster.html.markdown and
kubernetes_cluster_node_pool.html.markdown, as bridged by pulumi-azure 6.
"""

from __future__ import annotations

from typing import Any, Final

from dra_planner.clouds.other_providers.resource_form import ResourceForm

_OF_POOL: Final = {
    "autoScalingEnabled": "enableAutoScaling",
    "capacityReservationGroupId": "capacityReservationGroupID",
    "evictionPolicy": "scaleSetEvictionPolicy",
    "fipsEnabled": "enableFIPS",
    "gpuDriver": "gpuProfile.driver",
    "gpuInstance": "gpuInstanceProfile",
    "hostEncryptionEnabled": "enableEncryptionAtHost",
    "kubernetesClusterId": "resourceName",
    "linuxOsConfig": "linuxOSConfig",
    "nodeCount": "count",
    "nodePublicIpEnabled": "enableNodePublicIP",
    "osDiskSizeGb": "osDiskSizeGB",
    "osSku": "osSKU",
    "podSubnetId": "podSubnetID",
    "priority": "scaleSetPriority",
    "proximityPlacementGroupId": "proximityPlacementGroupID",
    "ultraSsdEnabled": "enableUltraSSD",
    "vnetSubnetId": "vnetSubnetID",
    "zones": "availabilityZones",
}
_OF_CLUSTER: Final = {
    "automaticUpgradeChannel": "autoUpgradeProfile.upgradeChannel",
    "azureActiveDirectoryRoleBasedAccessControl": "aadProfile",
    "azurePolicyEnabled": "addonProfiles.azurepolicy.enabled",
    "defaultNodePool": "agentPoolProfiles",
    "diskEncryptionSetId": "diskEncryptionSetID",
    "keyVaultSecretsProvider": "addonProfiles.azureKeyvaultSecretsProvider",
    "localAccountDisabled": "disableLocalAccounts",
    "name": "resourceName",
    "nodeOsUpgradeChannel": "autoUpgradeProfile.nodeOSUpgradeChannel",
    "oidcIssuerEnabled": "oidcIssuerProfile.enabled",
    "privateClusterEnabled": "apiServerAccessProfile.enablePrivateCluster",
    "roleBasedAccessControlEnabled": "enableRBAC",
    "skuTier": "sku.tier",
    "workloadIdentityEnabled": "securityProfile.workloadIdentity.enabled",
}
_SECRETS: Final = "azureKeyvaultSecretsProvider"


def _pool(values: dict[str, Any]) -> dict[str, Any]:
    return {"mode": "User", **values}  # the provider's default


def _cluster(values: dict[str, Any]) -> dict[str, Any]:
    """Return a cluster with lists and flags in the form of azure-native, and with the provider's
    defaults.
    """
    result = {"enableRBAC": True, **values}
    if isinstance(first := values.get("agentPoolProfiles"), dict):
        result["agentPoolProfiles"] = [{"mode": "System", **first}]
    if isinstance(directory := values.get("aadProfile"), dict):
        result["aadProfile"] = {"managed": True, **directory}
    addons = values.get("addonProfiles")
    secrets = addons.get(_SECRETS) if isinstance(addons, dict) else None
    if isinstance(addons, dict) and isinstance(secrets, dict):
        config = {key: _text(value) for key, value in (secrets.get("config") or {}).items()}
        result["addonProfiles"] = {**addons, _SECRETS: {"enabled": True, "config": config}}
    return result


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


FORMS: Final = (
    ResourceForm(
        token="azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool",
        becomes="azure-native:containerservice:AgentPool",
        names={**_OF_POOL, "name": "agentPoolName"},
        finish=_pool,
    ),
    ResourceForm(
        token="azure:containerservice/kubernetesCluster:KubernetesCluster",
        becomes="azure-native:containerservice:ManagedCluster",
        names=_OF_CLUSTER,
        parts={
            "apiServerAccessProfile": {"authorizedIpRanges": "authorizedIPRanges"},
            "azureActiveDirectoryRoleBasedAccessControl": {"azureRbacEnabled": "enableAzureRBAC"},
            "defaultNodePool": _OF_POOL,
            "keyVaultSecretsProvider": {"secretRotationEnabled": "config.enableSecretRotation"},
            "networkProfile": {
                "dnsServiceIp": "dnsServiceIP",
                "networkDataPlane": "networkDataplane",
            },
        },
        names_of_pools="defaultNodePool",
        finish=_cluster,
    ),
)
