"""Azure Kubernetes Service with agent pools of scale sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    disk_bytes,
)
from dra_planner.clouds.protocol.cloud import Cloud, ClusterSettings, Fault, PoolSettings
from dra_planner.clouds.protocol.identities import (
    GrantResource,
    IdentityResource,
    RegistryResource,
)
from dra_planner.clouds.protocol.labels import NodeOrigin
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
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
from dra_planner.clouds.protocol.setting_faults import private_network_fault
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver
from dra_planner.model import Taint

SPOT_TAINT = Taint("kubernetes.azure.com/scalesetpriority", "spot", "NoSchedule")
# what the components set: AKS reserves 20 MiB for each, and 250 is the default of its overlay
# network
MAX_PODS = 110
POOL_NAME = "[a-z][a-z0-9]{0,11}"
IMAGE = "Ubuntu"
# and 2 % of the disk; cautious: the file system of a node with 128 GiB is 4.1 GiB smaller
IMAGE_MIB = 2 * 1024
_NOBODY = "0.0.0.0/32"
MOST_RANGES = 199
"""AKS accepts 200 ranges, one of which is the outbound address of nodes."""
LONGEST_LABEL_NAME = 63
"""Names of a subnet of nodes, its network and its group become labels of nodes: "Limitations" of
learn.microsoft.com/azure/aks/azure-cni-overlay (MicrosoftDocs/azure-aks-docs@04d389a)."""
_ZONES = "123"
# "Limitations and restrictions" of
# learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview
# (MicrosoftDocs/azure-compute-docs@05a4485): neither ND sizes nor NCads_H100_v5 can be reserved.
_NEVER_RESERVED = re.compile(r"Standard_(ND\d.*|NC\d+a(ds|dis)_H100_v5)", re.IGNORECASE)


# learn.microsoft.com/azure/aks/gpu-multi-instance: the profile is one of these, and cuts every GPU
# of a pool alike.
INSTANCE_PROFILES = ("MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g")
_ONE_PROFILE = re.compile(r"all-(?P<slices>[12347])g\.(?P<memory>\d+)gb")


def instance_profile(mig: str) -> str:
    """Return AKS' name of a MIG configuration (MIG1g for all-1g.10gb), or "" if it has none."""
    found = _ONE_PROFILE.fullmatch(mig)
    return f"MIG{found['slices']}g" if found else ""


class Aks(Cloud):
    """Pools on which the node image brings the NVIDIA driver and AKS runs no device plugin: its
    default.
    """

    name = "aks"

    region_setting = "azure-native:location"
    sdk_extra = "azure"
    region_pattern = r"[a-z]*(north|south|east|west|central)[a-z]*\d*|usgov[a-z]+"
    region_example = "eastus"
    # as topology.kubernetes.io/zone says it; the API calls it "1"
    zone_pattern = rf"(?P<region>[a-z]+\d*)-[{_ZONES}]"
    zone_suffixes = tuple(f"-{zone}" for zone in _ZONES)
    # of the system nodes; 0: in none, where the region has none
    zone_counts = range(len(_ZONES) + 1)
    refused = {
        "localSsds": "is for GKE",
        "image": "is only for EKS; AKS doesn't support custom images",
        "hugePages": "is for EKS and GKE",
        "localStorage": "is for EKS",
        "network.prefixDelegation": "is only for EKS; on AKS, pods have their own addresses (Azure CNI Overlay)",
        "drivers.dranet": "DRANET isn't supported on AKS, because its devices there aren't documented; set it "
        "to false",
        "reserved": "AKS doesn't allow custom kubelet reservations "
        "(learn.microsoft.com/azure/aks/node-resource-reservations); use daemonPods",
        "schedule": "AKS doesn't support scheduled node counts; leave the schedule out",
        "autoscaler.karpenter": "node auto-provisioning (Karpenter) ignores claims, because it runs with "
        "ignoreDRARequests "
        "(Azure/karpenter-provider-azure:charts/karpenter/values.yaml@352646f); use none or "
        "cluster-autoscaler",
    }

    # Its Azure provider predicts no devices for a node that does not exist yet, so an empty pool is
    # never scaled up for a claim:
    # kubernetes/autoscaler:cluster-autoscaler/cloudprovider/azure@55c37cd;
    # modelplaneai/modelplane#345.
    autoscalers = {"none": False, "cluster-autoscaler": False}

    pods_range = "10.244.0.0/16"  # learn.microsoft.com/azure/aks/azure-cni-overlay
    capacities = {"on-demand": "on-demand", "spot": "spot", "reservation": "a reservation"}
    spot = (("scaleSetPriority", "Spot"),)
    reservation_pattern = (
        r"(?i)/subscriptions/[^/]+/resourceGroups/[^/]+"
        r"/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+"
    )
    reservation_meaning = (
        "the id of a capacity reservation group "
        "(/subscriptions/…/resourceGroups/…/providers/Microsoft.Compute/capacityReservationGroups/…)"
    )
    nodes_of_a_pool = range(1_001)  # learn.microsoft.com/azure/aks/quotas-skus-regions
    pods_of_a_node = range(10, 251)
    disk_gib = range(50, 2_049)
    longest_pool_name = 12
    pool_name_pattern = POOL_NAME
    # learn.microsoft.com/azure/aks/availability-zones; names of pools: Azure/AKS issue 3300
    zone_names = tuple(_ZONES)
    # MicrosoftDocs/reliability-docs:articles/reliability/regions-list.md@01021ab, of 2025-09-23
    regions_without_zones = (
        "australiacentral",
        "australiacentral2",
        "australiasoutheast",
        "brazilsoutheast",
        "canadaeast",
        "francesouth",
        "germanynorth",
        "koreasouth",
        "northcentralus",
        "norwaywest",
        "southafricawest",
        "southindia",
        "switzerlandwest",
        "uaecentral",
        "ukwest",
        "westcentralus",
        "westindia",
        "westus",
    )
    system_mode = ("mode", "System")  # its taints: Azure/AKS issue 2578
    system_machine = "Standard_D4s_v5"  # AKS asks for 4 vCPU
    gpu_images = {"amd64": IMAGE, "arm64": IMAGE}
    system_images = {"amd64": IMAGE, "arm64": IMAGE}
    # learn.microsoft.com/azure/aks/use-nvidia-gpu; the DRA driver's kubelet plugin runs on Linux
    # alone.
    images_without_driver = (
        "AzureLinuxOSGuard",
        "Flatcar",
        "Windows2019",
        "Windows2022",
        "Windows2025",
    )
    driver_left_out = (("gpuProfile.driver", "None"),)

    tolerates_extended_resources = True  # learn.microsoft.com/azure/aks/faq: admission controllers

    reserved_domains = ("kubernetes.azure.com",)
    labels_are_judged = True
    commands = ("az aks",)
    unknown_labels = (
        "kubernetes.azure.com/",
        "karpenter.azure.com/",
        "topology.disk.csi.azure.com/",
        "storageprofile",
        "storagetier",
        "kubernetes.io/role",
        "node-role.kubernetes.io/agent",
    )
    pool_label = "kubernetes.azure.com/agentpool"

    own_driver = "AKS' own DRA driver"
    # Azure/aks-gpu:install.sh@dde3239: binaries in /usr/bin, libraries in /usr/lib
    driver_root = "/"
    # The driver does publish what was cut beforehand, but gpuInstanceProfile is for the device
    # plugin: alike on every GPU, unchangeable, cut before the driver starts; no source says that
    # the two go together.
    supports_mig = False
    driver_source = (
        "gpuInstanceProfile permanently partitions every GPU of a pool in the same way, for "
        "the device plugin: learn.microsoft.com/azure/aks/gpu-multi-instance"
    )

    image_label = "kubernetes.azure.com/node-image-version"
    dated_facts = ("aks-image", "aks-dra-driver")
    fact_sources = ("azure", "aks")
    infiniband_needs = (
        "InfiniBand on AKS needs the feature Microsoft.ContainerService/AKSInfinibandSupport, a "
        "host driver (NVIDIA "
        "Network Operator with DOCA), and pods with the memlock limit raised"
    )

    provider = "pulumi:providers:azure-native"
    provider_region = "location"
    cluster = ClusterResource(
        token="azure-native:containerservice:ManagedCluster",
        version="kubernetesVersion",
        region="location",
        pools="agentPoolProfiles",
        name="resourceName",
        # learn.microsoft.com/azure/aks/auto-upgrade-node-os-image: NodeImage is the default
        image_channel="autoUpgradeProfile.nodeOSUpgradeChannel",
        new_images=("NodeImage",),
        network_policies=tuple(
            ("networkProfile.networkPolicy", policy) for policy in ("azure", "calico", "cilium")
        ),
        pod_range="networkProfile.podCidr",
        own_nodes=(("nodeProvisioningProfile.mode", "Auto"),),
        old_images=("None", "Unmanaged"),
        image_fix='set autoUpgradeProfile.nodeOSUpgradeChannel to "SecurityPatch", and upgrade '
        "node images one pool "
        "at a time",
    )
    pool = PoolResource(
        token="azure-native:containerservice:AgentPool",
        kind="agent pool",
        machine="vmSize",
        labels="nodeLabels",
        taints="nodeTaints",
        image="osSKU",
        version="orchestratorVersion",
        max_pods="maxPods",
        zone_list="availabilityZones",
        # Azure/AKS issues 2635 and 2672, MicrosoftDocs/azure-docs pull request 73585
        ephemeral=EphemeralDisk(
            setting=("osDiskType", "Ephemeral"),
            otherwise="Managed",
            size="osDiskSizeGB",
            default_gib=128,
            only_temporary=("NCasT4_v3",),
        ),
        own_pod_ranges=("podSubnetID",),
        desired=("count",),
        scaling="enableAutoScaling",
        limits=(CountLimits(minimum="minCount", maximum="maxCount"),),
        cluster="resourceName",
        bought=BoughtCapacity(
            marks=(("capacityReservationGroupID", ""),),
            tokens=("azure-native:compute:CapacityReservationGroup",),
            zone="zones",
            names="capacityReservationGroupID",
            # learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview, limitations
            machine=("azure-native:compute:CapacityReservation", "sku.name"),
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
            charts=("network-operator", "dranet"),
            fix="install the NVIDIA Network Operator (chart network-operator), or use machines "
            "without InfiniBand",
        ),
    )

    node_network = NodeNetwork(
        # MicrosoftDocs/azure-aks-docs:articles/aks/concepts-network-ip-address-planning.md@546865d
        addresses=AddressRanges(
            of_cluster=(
                ("networkProfile.serviceCidr", "services", "10.0.0.0/16"),
                ("networkProfile.podCidr", "pods", ""),
            ),
            token="azure-native:network:Subnet",
            used_by=("vnetSubnetID", "agentPoolProfiles"),
            ranges=("addressPrefix", "addressPrefixes"),
            network="virtualNetworkName",
            network_token="azure-native:network:VirtualNetwork",
            network_ranges="",
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
        # MicrosoftDocs/azure-aks-docs:articles/aks/egress-outboundtype.md@fb060ab
        routes=UserRoutes(
            outbound=("networkProfile.outboundType", "userDefinedRouting"),
            used_by="vnetSubnetID",
            subnet_token="azure-native:network:Subnet",
            routes="routeTable",
        ),
    )
    # MicrosoftDocs/azure-aks-docs:articles/aks/use-pod-sandboxing.md@fb060ab
    runtime_classes = ("kata-mshv-vm-isolation", "kata-vm-isolation", "kata-cc-isolation")
    identity = IdentityResource(
        token="azure-native:managedidentity:UserAssignedIdentity",
        kind="identity",
        name="resourceName",
        grants=(
            GrantResource(
                token="azure-native:authorization:RoleAssignment",
                identity="principalId",
                rights="roleDefinitionId",
            ),
        ),
    )

    # MicrosoftDocs/azure-aks-docs:articles/aks/csi-storage-drivers.md@25dee6e
    volume_drivers = (
        VolumeDriver(
            provisioner="disk.csi.azure.com",
            classes=("default", "managed", "managed-csi", "managed-premium", "managed-csi-premium"),
            switch=("storageProfile.diskCSIDriver.enabled", True, True),
        ),
        VolumeDriver(
            provisioner="file.csi.azure.com",
            classes=("azurefile", "azurefile-csi", "azurefile-premium", "azurefile-csi-premium"),
            switch=("storageProfile.fileCSIDriver.enabled", True, True),
        ),
        VolumeDriver(
            provisioner="blob.csi.azure.com",
            classes=("azureblob-nfs-premium", "azureblob-fuse-premium"),
            switch=("storageProfile.blobCSIDriver.enabled", True, False),
        ),
    )
    default_storage_class = "default"
    # learn.microsoft.com/azure/aks/azure-disk-customer-managed-keys; the role with this right is
    # e147488a-f6f5-4113-8e2d-b22465e65bf6
    disk_keys = DiskKeys(
        used_by=(("azure-native:containerservice:ManagedCluster", "diskEncryptionSetID"),),
        tokens=("azure-native:compute:DiskEncryptionSet",),
        grants=(
            ("azure-native:authorization:RoleAssignment", "principalId"),
            ("azure-native:keyvault:AccessPolicy", "policy"),
            ("azure-native:keyvault:Vault", "properties"),
        ),
        identity="the disk encryption set's identity",
        fix="grant it Key Vault Crypto Service Encryption User on the key's vault",
    )
    # learn.microsoft.com/azure/aks/cluster-container-registry-integration; roles of
    # learn.microsoft.com/azure/role-based-access-control/built-in-roles, read on 2026-11-27:
    # AcrPull, AcrPush, Contributor, and Owner
    registry = RegistryResource(
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
        fix="grant the kubelet identity the role AcrPull on the registry",
    )
    # Azure/azure-policy:built-in-policies/policyDefinitions/Kubernetes: no privileged containers,
    # allowed host paths, and the initiatives of the baseline and restricted standards
    # (IDs compared with Microsoft's pages and templates on 2026-11-27)
    pod_policies = (
        "azure-native:authorization:PolicyAssignment",
        "policyDefinitionId",
        (
            "95edb821-ddaf-4404-9732-666045e056b4",
            "098fc59e-46c7-4d99-9b16-64990e543d75",
            "a8640138-9b0a-4a28-b8cb-1666c838647d",
            "42b8ef37-b724-4e24-bbc8-7a7708edfe00",
        ),
    )

    def image_fault(self, machine: Machine, image: str) -> str:
        return image_fault(machine, image)

    def own_dra_driver(
        self, pool: Mapping[str, Any], image: str = "", boot_script: str = ""
    ) -> str:
        """Return the property of the GPU profile that is about DRA, unless it's off.

        No API version that was read has one. AKS announced the driver for October 2026 (Azure/AKS
        issue 5962), and node images know a switch enable_managed_gpu_dra
        (Azure/AgentBaker:aks-node-controller@06836ee).
        """
        return next(_dra_settings(pool.get("gpuProfile"), "gpuProfile"), "")

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        """Return the labels that come with a pool.

        Sources: learn.microsoft.com/azure/aks/use-labels;
        Azure/AgentBaker:parts/…/cse_config.sh@06836ee.
        """
        spot = nodes.capacity == "spot"
        labels = {
            self.pool_label: nodes.name,
            "agentpool": nodes.name,
            "kubernetes.azure.com/mode": "user",
            "kubernetes.azure.com/priority": "spot" if spot else "regular",
        }
        if spot:
            labels[SPOT_TAINT.key] = SPOT_TAINT.value
        if nodes.has_gpus:
            labels |= {"kubernetes.azure.com/accelerator": "nvidia", "accelerator": "nvidia"}
        return labels

    possible_taints = (SPOT_TAINT,)

    def added_taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taint of spot nodes (learn.microsoft.com/azure/aks/spot-node-pool); GPU nodes
        get none.
        """
        return (SPOT_TAINT,) if nodes.capacity == "spot" else ()

    def image_labels(self, machine: Machine) -> dict[str, str]:
        return {"kubernetes.azure.com/os-sku": IMAGE}

    def knows_network_interfaces(self, machine: Machine) -> bool:
        return False

    def pool_name(self, text: str) -> str:
        """Return letters and digits: nc4ast4v3 for Standard_NC4as_T4_v3."""
        return re.sub(r"[^a-z0-9]", "", text.lower().removeprefix("standard_"))[
            : self.longest_pool_name
        ]

    def zone_fault(self, zone: str, region: str = "") -> str:
        fault = super().zone_fault(zone, region)
        if zone in tuple(_ZONES):
            return (
                f'"{zone}" does not name its region; write "{region or self.region_example}-{zone}"'
            )
        return fault

    def address_fault(self, cidr: str) -> str:
        """Return why AKS takes no such range.

        Sources: Azure/azure-cli-extensions issue 1764 and MicrosoftDocs/azure-docs issue 98356
        (public addresses alone); Azure/terraform-azurerm-aks issue 378 (0.0.0.0/32, which stands
        for nobody, beside others).
        """
        if ":" in cidr:
            return f'"{cidr}" isn\'t an IPv4 network, and AKS supports only IPv4'
        if cidr == _NOBODY:
            return (
                f'"{cidr}" allows no address, and AKS rejects it together with other ranges; '
                "leave the list empty for a private cluster"
            )
        return private_network_fault(cidr)

    def cluster_faults(self, cluster: ClusterSettings) -> Iterator[Fault]:
        yield from super().cluster_faults(cluster)
        if len(cluster.subnet_ids) > 1:
            yield (
                "network.subnetIds",
                "must name one subnet, because a subnet spans all zones on AKS",
            )
        yield from (
            ("network.subnetIds", fault)
            for each in cluster.subnet_ids
            if (fault := subnet_fault(each))
        )
        if fault := ranges_fault(len(cluster.public_access_cidrs)):
            yield "endpoint.publicAccessCidrs", fault

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        yield from super().pool_faults(pool)
        if (
            pool.plugin is not None
            and pool.plugin.mig_strategy
            and (fault := _partition_fault(pool))
        ):
            yield "mig", fault
        if len(pool.name) <= self.longest_pool_name and not re.fullmatch(POOL_NAME, pool.name):
            yield (
                "name",
                "must be lowercase letters and digits that begin with a letter on AKS, not "
                f'"{pool.name}"',
            )
        if (
            pool.machine is not None
            and not pool.is_served
            and (fault := machine_fault(pool.machine))
        ):
            yield "machine", fault

    def purchase_fault(self, machine: Machine, capacity: str) -> str:
        if capacity != "reservation" or not _NEVER_RESERVED.fullmatch(machine.name):
            return super().purchase_fault(machine, capacity)
        return (
            f"Azure doesn't reserve {machine.name}, because capacity reservations support "
            "neither ND sizes nor NCads_H100_v5 "
            "(learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview); use "
            "on-demand or spot"
        )

    def reserved_cpu_milli(self, vcpus: int) -> int:
        """Return 6 % of one core, 4 % of the next, 2 % of two more, 1 % of the rest."""
        return sum(
            60 if index == 0 else 40 if index == 1 else 20 if index < 4 else 10
            for index in range(vcpus)
        )

    def subnet_addresses(self, machine: Machine, settings: AllocatableSettings, pods: int) -> int:
        return 1

    def pod_range_addresses(self, settings: AllocatableSettings) -> int:
        """Return the /24 that a node has in an overlay network, which the components set.

        Sources:
        MicrosoftDocs/azure-aks-docs:articles/aks/concepts-network-ip-address-planning.md@546865d;
        Azure/AKS issues 4367 (256 nodes in a /16) and 4467 (the maximums of all pools count, and a
        node more for upgrades).
        """
        return 256

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        """Return what AKS's kubelet leaves from Kubernetes 1.29 on.

        Sources: learn.microsoft.com/azure/aks/node-resource-reservations
        (MicrosoftDocs/azure-aks-docs@fb060ab; what it calls MB are MiB on real nodes);
        Azure/karpenter-provider-azure:pkg/providers/instancetype/ instancetype.go@352646f (cpu by
        core, what kernel and hypervisor keep).
        """
        pods = MAX_PODS if settings.max_pods is None else settings.max_pods
        kept = -(-memory_mib * 75 // 1000)
        reserved = min(20 * pods + 50, memory_mib // 4)
        amounts = {
            "cpu": vcpus * 1000 - self.reserved_cpu_milli(vcpus),
            "memory": (memory_mib - kept - reserved - EVICTION_MIB) * MIB,
            "pods": pods,
        }
        disk = settings.disk_gib * 1024
        return Allocatable(
            {**amounts, "ephemeral-storage": disk_bytes(settings, IMAGE_MIB + disk // 50, 0)},
            {
                **amounts,
                "memory": amounts["memory"] + kept * MIB,
                "ephemeral-storage": disk_bytes(settings, 0, 0),
            },
            (
                "AKS nodes run the Ubuntu image with AKS's documented reservations; the "
                "kernel and hypervisor use 7.5 % of the memory (Karpenter's estimate, "
                "cautious for large machine types)",
                (
                    f"AKS nodes run at most {pods} pods, "
                    f"{'which the components set' if settings.max_pods is None else 'as set'}"
                ),
                (
                    f"ephemeral storage is a managed OS disk of {settings.disk_gib} GiB; the "
                    "temporary "
                    "disk is not counted"
                ),
            ),
        )


def subnet_fault(subnet: str) -> str:
    """Return why nodes can't be in the subnet with that ID, or "". Azure checks texts that aren't
    IDs.
    """
    parts = subnet.split("/")
    for what in ("resourceGroups", "virtualNetworks", "subnets"):
        name = next((name for key, name in pairwise(parts) if key.lower() == what.lower()), "")
        if len(name) > LONGEST_LABEL_NAME:
            longest = (
                f"AKS allows at most {LONGEST_LABEL_NAME} characters for {what}, which become "
                "a label of nodes"
            )
            return f'"{name}" has {len(name)} characters: {longest}'
    return ""


def ranges_fault(count: int) -> str:
    """Return why there cannot be so many such networks, or ""."""
    return (
        f"has {count}; AKS allows {MOST_RANGES} in addition to its own"
        if count > MOST_RANGES
        else ""
    )


def machine_fault(machine: Machine) -> str:
    """Return why a size cannot be that of a pool for claims, or ""."""
    accelerator = machine.accelerator
    has_gpus = accelerator is not None and accelerator.vendor == "nvidia"
    if has_gpus and machine.driver_kind == "none":
        return f"AKS doesn't install a GPU driver on {machine.name}; use another size"
    return (
        ""
        if has_gpus
        else (
            f"{machine.name} has no NVIDIA GPU; name one that has, for example Standard_NC4as_T4_v3"
        )
    )


def _partition_fault(pool: PoolSettings) -> str:
    """Return why AKS can't cut the GPUs of a pool in this way, or "". MIG1g is the profile with the
    least memory.
    """
    found = _ONE_PROFILE.fullmatch(pool.mig)
    if found is None:
        return (
            "AKS partitions every GPU of a pool into the same profile, such as all-1g.10gb, "
            f'not "{pool.mig}"'
        )
    accelerator = pool.machine.accelerator if pool.machine else None
    memory = accelerator.nominal_memory_gb if accelerator else None
    if found["slices"] == "1" and memory and int(found["memory"]) > memory / _SLICES_OF_A_GPU:
        return (
            f"MIG1g of AKS is the smallest profile, not {pool.mig.removeprefix('all-')}; choose "
            "the smallest or 2g"
        )
    return ""


_SLICES_OF_A_GPU = 7
_OS_FAMILIES = {"Ubuntu": "ubuntu", "AzureLinux": "azurelinux"}
_OFF = (None, False, "None", "none", "Disabled", "Unmanaged", "false")


def _dra_settings(value: object, path: str) -> Iterator[str]:
    """Yield the paths of settings whose names are about DRA and that aren't off."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if re.search(r"(^|[a-z_])(dra|DRA|Dra)(?![a-z])", key):
            yield from () if item in _OFF else (f"{path}.{key}",)
        else:
            yield from _dra_settings(item, f"{path}.{key}")


def image_fault(machine: Machine, image: str) -> str:
    """Return why a size can't run a node image, because AKS installs no driver for it there; "" if
    nothing is known.
    """
    family = next((of for name, of in _OS_FAMILIES.items() if image.startswith(name)), None)
    listed = machine.operating_systems
    if family is None or not listed or any(each.startswith(family) for each in listed):
        return ""
    known = [name for name, of in _OS_FAMILIES.items() if of in listed]
    return f"AKS has no GPU driver for {machine.name} on {image}; use {' or '.join(known)}"


def api_zone(zone: str) -> str:
    """Return the name of a fleet's zone in Azure's API: "1" for eastus-1."""
    return zone.rpartition("-")[2]


CLOUD = Aks()
