"""The Pulumi resources of AKS: clusters, pools, networks, identities, and volumes."""

from __future__ import annotations

from dra_planner.clouds.protocol.identities import (
    FederatedAccounts,
    GrantResource,
    IdentityResource,
    RegistryResource,
)
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
    DefaultRoutes,
    NodeNetwork,
    TrafficFilter,
    UserRoutes,
)
from dra_planner.clouds.protocol.resources import (
    BoughtCapacity,
    ClusterResource,
    CountLimits,
    EphemeralDisk,
    FastNetwork,
    PoolResource,
    SurgeSetting,
)
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver

CLUSTER = ClusterResource(
    token="azure-native:containerservice:ManagedCluster",
    version="kubernetesVersion",
    region="location",
    pools="agentPoolProfiles",
    # pulumi/pulumi-azure-native issues 579, 1686, and 2719
    inner_pools=(
        1,
        "AKS rejects updates that add a pool to this list, and keeps the nodes of a pool that you "
        "remove from the list",
    ),
    name="resourceName",
    # learn.microsoft.com/azure/aks/auto-upgrade-node-os-image: NodeImage is the default
    image_channel="autoUpgradeProfile.nodeOSUpgradeChannel",
    new_images=("NodeImage",),
    network_policies=tuple(
        ("networkProfile.networkPolicy", policy) for policy in ("azure", "calico", "cilium")
    ),
    pod_range="networkProfile.podCidr",
    # MicrosoftDocs/azure-aks-docs:articles/aks/use-byo-cni.md
    own_network=(
        "networkProfile.networkPlugin",
        "none",
        ("cilium", "calico", "tigera", "flannel", "antrea", "weave", "kube-ovn", "cni"),
    ),
    own_nodes=(("nodeProvisioningProfile.mode", "Auto"),),
    # learn.microsoft.com/azure/aks/long-term-support: the Premium tier has the same price before
    # and after the end of standard support
    extended_support=("supportPlan", "AKSLongTermSupport"),
    old_images=("None", "Unmanaged"),
    image_fix='set autoUpgradeProfile.nodeOSUpgradeChannel to "SecurityPatch", and upgrade '
    "node images one pool "
    "at a time",
)
POOL = PoolResource(
    token="azure-native:containerservice:AgentPool",
    kind="agent pool",
    machine="vmSize",
    labels="nodeLabels",
    taints="nodeTaints",
    image="osSKU",
    version="orchestratorVersion",
    max_pods="maxPods",
    zone_list="availabilityZones",
    shared_gpus=("", ("gpuInstanceProfile",)),
    spot_limit="spotMaxPrice",  # Azure/AKS issue 4404: no error, but no node either
    # Azure/AKS issues 2635 and 2672, MicrosoftDocs/azure-docs pull request 73585
    ephemeral=EphemeralDisk(
        setting=("osDiskType", "Ephemeral"),
        otherwise="Managed",
        size="osDiskSizeGB",
        default_gib=128,
        only_temporary=("NCasT4_v3",),
        # "d" in a name states a local disk, and the sizes have no cache disk since v5
        # (learn.microsoft.com: Azure VM sizes naming conventions, and Ephemeral OS disks, read
        # 2026-11-28; Azure/AKS issue 2699)
        without=r"Standard_[DEF]\d+(-\d+)?[a-ce-z]*_v[567]",
        # hashicorp/terraform-provider-azurerm issue 29635
        other_settings=(("kubeletDiskType", "Temporary", "OS"),),
    ),
    own_pod_ranges=("podSubnetID",),
    # Azure REST API, Agent Pools: AKS doesn't restore them after they're removed
    startup_taints="nodeInitializationTaints",
    desired=("count",),
    # pulumi/pulumi-azure issue 780, pagopa/azurerm pull request 122
    fixed_count="count",
    scaling="enableAutoScaling",
    limits=(CountLimits(minimum="minCount", maximum="maxCount"),),
    cluster="resourceName",
    stopped=("powerState.code", "Stopped"),
    bought=BoughtCapacity(
        marks=(("capacityReservationGroupID", ""),),
        tokens=("azure-native:compute:CapacityReservationGroup",),
        zone="zones",
        names="capacityReservationGroupID",
        # learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview, limitations
        machine=("azure-native:compute:CapacityReservation", "sku.name"),
        members=("capacityReservationGroupName", "sku.capacity"),
        placement=("proximityPlacementGroupID",),
        placement_kind="proximity placement group",
        surge=SurgeSetting(
            setting="upgradeSettings.maxSurge",
            default="10%",
            starts_none=("0", "0%"),
            fix='set upgradeSettings.maxSurge to "0" and maxUnavailable to "1"',
        ),
    ),
    fast_network=FastNetwork(
        of_machine=lambda machine: "InfiniBand interfaces" if machine.has_infiniband else "",
        charts=("network-operator", "dranet"),
        fix="install the NVIDIA Network Operator (chart network-operator), or use a machine "
        "type without InfiniBand",
    ),
)
NODE_NETWORK = NodeNetwork(
    # MicrosoftDocs/azure-aks-docs:articles/aks/concepts-network-ip-address-planning.md@546865d
    addresses=AddressRanges(
        of_cluster=(
            ("networkProfile.serviceCidr", "service", "10.0.0.0/16"),
            ("networkProfile.podCidr", "pod", ""),
        ),
        token="azure-native:network:Subnet",
        used_by=("vnetSubnetID", "agentPoolProfiles"),
        ranges=("addressPrefix", "addressPrefixes"),
        network="virtualNetworkName",
        network_token="azure-native:network:VirtualNetwork",
        network_ranges="",
        inside="subnets",
        kept=5,
        dns=("networkProfile.dnsServiceIP", "networkProfile.serviceCidr"),
        pods_in_subnet=(
            ("networkProfile.networkPlugin", "azure"),
            ("!networkProfile.networkPluginMode", "overlay"),
        ),
        default_pods=30,
    ),
    filters=TrafficFilter(
        token="azure-native:network:NetworkSecurityGroup",
        used_by="networkSecurityGroup",
        rules="securityRules",
        rule=("azure-native:network:SecurityRule", "networkSecurityGroupName"),
        everywhere=("*", "Internet", "AzureCloud"),
    ),
    # Azure's system routes lead to the internet unless a route table replaces the default route
    # (Azure virtual network documentation, "Virtual network traffic routing")
    default_routes=DefaultRoutes(
        token="azure-native:network:RouteTable",
        routes="routes",
        route=("azure-native:network:Route", "routeTableName"),
        destinations=("addressPrefix",),
        of_subnet="routeTable",
        dead=("nextHopType", "None"),
    ),
    # MicrosoftDocs/azure-aks-docs:articles/aks/egress-outboundtype.md@fb060ab
    routes=UserRoutes(
        outbound=("networkProfile.outboundType", "userDefinedRouting"),
        used_by="vnetSubnetID",
        subnet_token="azure-native:network:Subnet",
        routes="routeTable",
    ),
)
# MicrosoftDocs/azure-docs issue 106447 (audience), Azure/azure-workload-identity issue 340 (subject
# and issuer), read 2026-11-28
FEDERATED_ACCOUNTS = FederatedAccounts(
    token="azure-native:managedidentity:FederatedIdentityCredential",
    kind="federated identity credential",
    subject="subject",
    pattern=r"^system:serviceaccount:(?P<namespace>[^:]+):(?P<name>[^:]+)$",
    annotation="azure.workload.identity/client-id",
    grants=("azure-native:managedidentity:FederatedIdentityCredential",),
    provider=".oic.prod-aks.",
    audience="api://AzureADTokenExchange",
    issuer="issuer",
    audiences="audiences",
    # Azure/azure-workload-identity:docs/book/src/topics/service-account-labels-and-annotations.md
    pod_label="azure.workload.identity/use",
)
IDENTITY = IdentityResource(
    token="azure-native:managedidentity:UserAssignedIdentity",
    kind="identity",
    name="resourceName",
    grants=(
        GrantResource(
            token="azure-native:authorization:RoleAssignment",
            identity="principalId",
            rights="roleDefinitionId",
            scope="scope",
        ),
    ),
    # Built-in roles without the action Microsoft.Network/virtualNetworks/subnets/join: Reader,
    # AcrPull, Managed Identity Operator, Monitoring Metrics Publisher
    # (MicrosoftDocs/azure-docs:articles/role-based-access-control/built-in-roles.md)
    of_cloud=(
        "acdd72a7-3385-48ef-bd42-f606fba81ae7",
        "7f951dda-4ed3-4680-a7ca-43fe172d538d",
        "f1a07417-d97a-45cb-824c-7a7467783830",
        "3913510d-42f4-4e42-8a64-420c390055eb",
    ),
    names={
        "4d97b98b-1d4f-4787-a291-c67834d212e7": "the Network Contributor role",
        "7f951dda-4ed3-4680-a7ca-43fe172d538d": "the AcrPull role",
    },
)
# MicrosoftDocs/azure-aks-docs:articles/aks/csi-storage-drivers.md@25dee6e
VOLUME_DRIVERS = (
    VolumeDriver(
        provisioner="disk.csi.azure.com",
        zone_key="topology.disk.csi.azure.com/zone",
        classes=("default", "managed", "managed-csi", "managed-premium", "managed-csi-premium"),
        switch=("storageProfile.diskCSIDriver.enabled", True, True),
    ),
    VolumeDriver(
        provisioner="file.csi.azure.com",
        zonal=False,
        classes=("azurefile", "azurefile-csi", "azurefile-premium", "azurefile-csi-premium"),
        switch=("storageProfile.fileCSIDriver.enabled", True, True),
    ),
    VolumeDriver(
        provisioner="blob.csi.azure.com",
        zonal=False,
        classes=("azureblob-nfs-premium", "azureblob-fuse-premium"),
        switch=("storageProfile.blobCSIDriver.enabled", True, False),
    ),
    # learn.microsoft.com/azure/aks/csi-secrets-store-driver
    VolumeDriver(
        provisioner="secrets-store.csi.k8s.io",
        zonal=False,
        addon="secrets-store",
        switch=("addonProfiles.azureKeyvaultSecretsProvider.enabled", True, False),
    ),
)
# learn.microsoft.com/azure/aks/azure-disk-customer-managed-keys; the role with this right is
# e147488a-f6f5-4113-8e2d-b22465e65bf6
DISK_KEYS = DiskKeys(
    used_by=(("azure-native:containerservice:ManagedCluster", "diskEncryptionSetID"),),
    tokens=("azure-native:compute:DiskEncryptionSet",),
    grants=(
        ("azure-native:authorization:RoleAssignment", "principalId"),
        ("azure-native:keyvault:AccessPolicy", "policy"),
        ("azure-native:keyvault:Vault", "properties"),
    ),
    identity="the disk encryption set's identity",
    fix="grant the identity the Key Vault Crypto Service Encryption User role on the key's vault",
)
# learn.microsoft.com/azure/aks/cluster-container-registry-integration; roles of
# learn.microsoft.com/azure/role-based-access-control/built-in-roles, read on 2026-11-27:
# AcrPull, AcrPush, Contributor, and Owner
REGISTRY = RegistryResource(
    token="azure-native:containerregistry:Registry",
    name="registryName",
    domain=".azurecr.io",
    grants=(
        GrantResource(
            token="azure-native:authorization:RoleAssignment",
            identity="principalId",
            rights="roleDefinitionId",
        ),
    ),
    rights=(
        "7f951dda-4ed3-4680-a7ca-43fe172d538d",
        "8311e382-0749-4cb8-b61a-304f252e45ec",
        "b24988ac-6180-42a0-ab88-20f7382dd24c",
        "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    ),
    fix="grant the kubelet identity the AcrPull role on the registry",
)
# Azure/azure-policy:built-in-policies/policyDefinitions/Kubernetes: no privileged containers,
# allowed host paths, and the initiatives of the baseline and restricted standards
# (IDs compared with Microsoft's pages and templates on 2026-11-27)
POD_POLICIES = (
    "azure-native:authorization:PolicyAssignment",
    "policyDefinitionId",
    (
        "95edb821-ddaf-4404-9732-666045e056b4",
        "098fc59e-46c7-4d99-9b16-64990e543d75",
        "a8640138-9b0a-4a28-b8cb-1666c838647d",
        "42b8ef37-b724-4e24-bbc8-7a7708edfe00",
    ),
)
