"""The Azure resource types with special behavior.

`replacements.py` determines which changes replace a resource. Changes that Azure rejects are part
of the checks of agent pools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from dra_sandbox.clouds.azure_native import (
    addresses,
    agent_pools,
    cluster_side_effects,
    deletions,
    locations,
    managed_clusters,
    operations,
    quotas,
    resource_providers,
    roles,
)
from dra_sandbox.clouds.azure_native.functions import TENANT, newest
from dra_sandbox.clouds.type_rows import Facts, TypeRow
from dra_sandbox.clouds.wire_values import Value, Values

_GROUP = "/subscriptions/{subscription}/resourceGroups/{resourceGroupName}"
_NETWORK = f"{_GROUP}/providers/Microsoft.Network"
# Lowercase, as in the API's responses (recorded states of pulumi-azure-native).
_CLUSTER = (
    "/subscriptions/{subscription}/resourcegroups/{resourceGroupName}/providers/Microsoft.ContainerService/"
    "managedClusters/{resourceName}"
)


def _version(name: str) -> Callable[[Facts], Value]:
    return lambda facts: newest(str(facts.inputs.get(name) or ""))


def _identity(facts: Facts) -> Value:
    """Return the identities as a mapping by ID, although the input is a list of IDs."""
    identity = facts.inputs["identity"]
    named = identity.get("userAssignedIdentities") or []
    return {
        "type": identity.get("type"),
        "userAssignedIdentities": {each: {"clientId": "", "principalId": ""} for each in named},
    }


def _only_private(facts: Facts) -> Value:
    private = (facts.inputs.get("apiServerAccessProfile") or {}).get("enablePrivateCluster")
    return facts.text("{dnsPrefix}-{hex8}.privatelink.{location}.azmk8s.io") if private else ""


# The enums of API version 2025-09-01. The API checks them, but the provider doesn't.
_POOL_VALUES: Mapping[str, frozenset[str]] = {
    "mode": frozenset({"System", "User", "Gateway"}),
    "type": frozenset({"VirtualMachineScaleSets", "AvailabilitySet", "VirtualMachines"}),
    "osType": frozenset({"Linux", "Windows"}),
    "osSKU": frozenset(
        {
            "Ubuntu",
            "AzureLinux",
            "AzureLinux3",
            "CBLMariner",
            "Windows2019",
            "Windows2022",
            "Ubuntu2204",
        }
    ),
    "osDiskType": frozenset({"Managed", "Ephemeral"}),
    "kubeletDiskType": frozenset({"OS", "Temporary"}),
    "scaleSetPriority": frozenset({"Spot", "Regular"}),
    "scaleSetEvictionPolicy": frozenset({"Delete", "Deallocate"}),
    "gpuInstanceProfile": frozenset({"MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g"}),
    "gpuProfile.driver": frozenset({"Install", "None"}),
}

COMMON = TypeRow(
    outputs={
        "name": "{name}",
        "azureApiVersion": "2025-09-01",
        "etag": "{hex8}",
        "eTag": "{hex8}",
        "provisioningState": "Succeeded",
        "resourceGuid": "{uuid}",
    },
    known={"location": "{location}"},
)

_ROWS: Mapping[str, TypeRow] = {
    "azure-native:containerservice:ManagedCluster": TypeRow(
        id=_CLUSTER,
        outputs={
            "type": "Microsoft.ContainerService/ManagedClusters",
            "fqdn": "{dnsPrefix}-{hex8}.hcp.{location}.azmk8s.io",
            "azurePortalFQDN": "{dnsPrefix}-{hex8}.portal.hcp.{location}.azmk8s.io",
            "privateFQDN": _only_private,
            "maxAgentPools": 100,
            "powerState": {"code": "Running"},
            "resourceUID": "{hex32}",
            "oidcIssuerProfile": {
                "issuerURL": f"https://{{location}}.oic.prod-aks.azure.com/{TENANT}/{{uuid}}/"
            },
            "identityProfile": {
                "kubeletidentity": {
                    "clientId": "{uuid}",
                    "objectId": "{uuid}",
                    "resourceId": "{id}-agentpool",
                }
            },
            "networkProfile": {
                "podCidr": "10.244.0.0/16",
                "serviceCidr": managed_clusters.SERVICE_CIDR,
                "dnsServiceIP": "10.0.0.10",
                "ipFamilies": ["IPv4"],
            },
            "nodeResourceGroup": "MC_{resourceGroupName}_{resourceName}_{location}",
        },
        instead={"identity": _identity},
        every_time={"currentKubernetesVersion": _version("kubernetesVersion")},
        name="resourceName",
        name_limit=63,
        allowed={
            **{f"agentPoolProfiles[*].{path}": values for path, values in _POOL_VALUES.items()},
            "sku.name": frozenset({"Base", "Automatic"}),
            "sku.tier": frozenset({"Free", "Standard", "Premium"}),
            "supportPlan": frozenset({"KubernetesOfficial", "AKSLongTermSupport"}),
            "networkProfile.networkPlugin": frozenset({"azure", "kubenet", "none"}),
            "networkProfile.networkPolicy": frozenset({"none", "calico", "azure", "cilium"}),
            "networkProfile.networkDataplane": frozenset({"azure", "cilium"}),
            "networkProfile.outboundType": frozenset(
                {
                    "loadBalancer",
                    "userDefinedRouting",
                    "managedNATGateway",
                    "userAssignedNATGateway",
                    "none",
                }
            ),
            "autoUpgradeProfile.upgradeChannel": frozenset(
                {"rapid", "stable", "patch", "node-image", "none"}
            ),
            "autoUpgradeProfile.nodeOSUpgradeChannel": frozenset(
                {"None", "Unmanaged", "NodeImage", "SecurityPatch"}
            ),
            "securityProfile.azureKeyVaultKms.keyVaultNetworkAccess": frozenset(
                {"Private", "Public"}
            ),
            "nodeResourceGroupProfile.restrictionLevel": frozenset({"Unrestricted", "ReadOnly"}),
        },
        checks=(managed_clusters.is_accepted, agent_pools.of_cluster),
        refusals=(
            resource_providers.is_registered,
            deletions.is_not_locked,
            *managed_clusters.REFUSALS,
            *operations.OF_CLUSTERS,
            *quotas.REFUSALS,
            *addresses.REFUSALS,
        ),
        effects=(
            operations.pools_left_out_stay,
            operations.pools_inside_stay_as_they_are,
            deletions.goes_with_its_nodes,
            cluster_side_effects.go_with_their_cluster,
        ),
        remembered=True,
    ),
    "azure-native:containerservice:AgentPool": TypeRow(
        id=f"{_CLUSTER}/agentPools/{{agentPoolName}}",
        outputs={
            "type": "Microsoft.ContainerService/managedClusters/agentPools",
            "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202608.20.0",
            "powerState": {"code": "Running"},
            "maxPods": 250,
            "osDiskType": "Managed",
            "osSKU": "Ubuntu",
            "osType": "Linux",
            "mode": "User",
        },
        every_time={"currentOrchestratorVersion": _version("orchestratorVersion")},
        instead={"capacityReservationGroupID": quotas.group_in_use},
        name="agentPoolName",
        name_limit=12,
        allowed=_POOL_VALUES,
        checks=(agent_pools.of_pool,),
        refusals=(
            deletions.is_not_locked,
            *agent_pools.REFUSALS,
            deletions.leaves_a_system_pool,
            *operations.OF_POOLS,
            *quotas.REFUSALS,
            *addresses.REFUSALS,
        ),
        remembered=True,
    ),
    "azure-native:containerservice:MaintenanceConfiguration": TypeRow(
        id=f"{_CLUSTER}/maintenanceConfigurations/{{configName}}",
        outputs={"type": "Microsoft.ContainerService/managedClusters/maintenanceConfigurations"},
        name="configName",
        allowed={
            "configName": frozenset(
                {"default", "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"}
            ),
            "maintenanceWindow.schedule.weekly.dayOfWeek": frozenset(
                {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
            ),
        },
        refusals=(cluster_side_effects.window_is_new,),
        remembered=True,
    ),
    "azure-native:resources:ResourceGroup": TypeRow(
        id="/subscriptions/{subscription}/resourceGroups/{resourceGroupName}",
        outputs={
            "type": "Microsoft.Resources/resourceGroups",
            "properties": {"provisioningState": "Succeeded"},
        },
        name="resourceGroupName",
        name_limit=90,
        refusals=(deletions.is_not_locked,),
        effects=(deletions.goes_with_all_inside,),
    ),
    "azure-native:managedidentity:UserAssignedIdentity": TypeRow(
        id=f"{_GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{{resourceName}}",
        outputs={"clientId": "{uuid}", "principalId": "{uuid}", "tenantId": TENANT},
        name="resourceName",
        name_limit=128,
        refusals=(resource_providers.is_registered,),
    ),
    "azure-native:authorization:RoleAssignment": TypeRow(
        id="{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
        name="roleAssignmentName",
        refusals=(deletions.is_not_locked, *roles.REFUSALS),
        remembered=True,
    ),
    "azure-native:authorization:ManagementLockByScope": TypeRow(
        id="{scope}/providers/Microsoft.Authorization/locks/{lockName}",
        name="lockName",
        allowed={"level": frozenset({"CanNotDelete", "ReadOnly"})},
        remembered=True,
    ),
    "azure-native:network:VirtualNetwork": TypeRow(
        id=f"{_NETWORK}/virtualNetworks/{{virtualNetworkName}}",
        name="virtualNetworkName",
        name_limit=64,
        refusals=(resource_providers.is_registered, deletions.is_not_locked),
    ),
    "azure-native:network:Subnet": TypeRow(
        id=f"{_NETWORK}/virtualNetworks/{{virtualNetworkName}}/subnets/{{subnetName}}",
        name="subnetName",
        name_limit=80,
        refusals=(deletions.is_not_locked, deletions.is_used_by_nobody),
        remembered=True,
    ),
    "azure-native:network:NatGateway": TypeRow(
        id=f"{_NETWORK}/natGateways/{{natGatewayName}}",
        name="natGatewayName",
        name_limit=80,
        refusals=(locations.stays_where_it_is,),
        allowed={"sku.name": frozenset({"Standard", "StandardV2"})},
    ),
    "azure-native:network:PublicIPAddress": TypeRow(
        id=f"{_NETWORK}/publicIPAddresses/{{publicIpAddressName}}",
        outputs={"ipAddress": "203.0.113.{octet}"},
        name="publicIpAddressName",
        name_limit=80,
        allowed={
            "publicIPAllocationMethod": frozenset({"Static", "Dynamic"}),
            "sku.name": frozenset({"Basic", "Standard", "StandardV2"}),
        },
    ),
    "azure-native:network:NetworkSecurityGroup": TypeRow(
        id=f"{_NETWORK}/networkSecurityGroups/{{networkSecurityGroupName}}",
        name="networkSecurityGroupName",
        name_limit=80,
        refusals=(locations.stays_where_it_is,),
    ),
    "azure-native:operationalinsights:Workspace": TypeRow(
        id=f"{_GROUP}/providers/Microsoft.OperationalInsights/workspaces/{{workspaceName}}",
        outputs={"customerId": "{uuid}"},
        name="workspaceName",
        name_limit=63,
        refusals=(resource_providers.is_registered,),
    ),
    "azure-native:monitor:DiagnosticSetting": TypeRow(
        id="{resourceUri}/providers/Microsoft.Insights/diagnosticSettings/{name}",
        refusals=(deletions.is_not_locked, cluster_side_effects.sink_has_its_logs_once),
        remembered=True,
    ),
}


def _with_same_location(old: Values, new: Values) -> Values:
    """Return the old inputs with the new spelling of a location that only differs in case and
    spaces.

    Source: pulumi/pulumi-azure-native:provider/pkg/provider/diff.go@03707ff.
    """
    before, after = old.get("location"), new.get("location")
    if not isinstance(before, str) or not isinstance(after, str):
        return old
    same = before.replace(" ", "").lower() == after.replace(" ", "").lower()
    return {**old, "location": after} if same else old


ROWS: Mapping[str, TypeRow] = {
    token: replace(row, unchanged=row.unchanged or _with_same_location)
    for token, row in _ROWS.items()
}
