"""Azure Kubernetes Service with agent pools of scale sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds.aks import pulumi_resources
from dra_planner.clouds.aks.allocatable import (
    allocatable_resources,
    reserved_cpu_of_node,
)
from dra_planner.clouds.aks.gpus import machine_fault, partition_fault
from dra_planner.clouds.aks.images import IMAGE, dra_settings, image_fault
from dra_planner.clouds.aks.network import NOBODY, ZONES, ranges_fault, subnet_fault
from dra_planner.clouds.protocol.allocatable import (
    Allocatable,
    AllocatableSettings,
)
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.clouds.protocol.labels import NodeOrigin
from dra_planner.clouds.protocol.setting_faults import private_network_fault
from dra_planner.clouds.protocol.settings import ClusterSettings, Fault, PoolSettings
from dra_planner.errors import RejectedValue
from dra_planner.model import Taint

SPOT_TAINT = Taint("kubernetes.azure.com/scalesetpriority", "spot", "NoSchedule")
POOL_NAME = "[a-z][a-z0-9]{0,11}"
# "Limitations and restrictions" of
# learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview
# (MicrosoftDocs/azure-compute-docs@05a4485): neither ND sizes nor NCads_H100_v5 can be reserved.
_NEVER_RESERVED = re.compile(r"Standard_(ND\d.*|NC\d+a(ds|dis)_H100_v5)", re.IGNORECASE)


class Aks(Cloud):
    """Pools whose node image contains the NVIDIA driver, and on which AKS doesn't run a device
    plugin (its default).
    """

    name = "aks"

    region_setting = "azure-native:location"
    sdk_extra = "azure"
    region_pattern = r"[a-z]*(north|south|east|west|central)[a-z]*\d*|usgov[a-z]+"
    region_example = "eastus"
    # the label topology.kubernetes.io/zone uses this form; the API uses "1"
    zone_pattern = rf"(?P<region>[a-z]+\d*)-[{ZONES}]"
    zone_suffixes = tuple(f"-{zone}" for zone in ZONES)
    # number of zones of the system nodes; 0 if the region doesn't have zones
    zone_counts = range(len(ZONES) + 1)
    refused = {
        "localSsds": "applies only to GKE",
        "image": "applies only to EKS, because AKS doesn't support custom images",
        "hugePages": "applies only to EKS and GKE",
        "localStorage": "applies only to EKS",
        "network.prefixDelegation": (
            "applies only to EKS, because pods on AKS have their own addresses (Azure CNI Overlay)"
        ),
        "drivers.dranet": "DRANET isn't supported on AKS, because its devices on AKS aren't documented; set "
        "dranet to false",
        "reserved": "AKS doesn't allow custom kubelet reservations "
        "(learn.microsoft.com/azure/aks/node-resource-reservations); use daemonPods",
        "schedule": "AKS doesn't support scheduled node counts; remove the schedule",
        "autoscaler.karpenter": "node auto-provisioning (Karpenter) ignores claims, because it runs with "
        "ignoreDRARequests "
        "(Azure/karpenter-provider-azure:charts/karpenter/values.yaml@352646f); use none or "
        "cluster-autoscaler",
    }

    # The autoscaler's Azure provider doesn't predict the devices of a node that doesn't exist yet,
    # so it never scales up an empty pool for a claim:
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
        "the ID of a capacity reservation group (format: /subscriptions/…/resourceGroups/…/"
        "providers/Microsoft.Compute/capacityReservationGroups/…)"
    )
    nodes_of_a_pool = range(1_001)  # learn.microsoft.com/azure/aks/quotas-skus-regions
    pods_of_a_node = range(10, 251)
    disk_gib = range(50, 2_049)
    longest_pool_name = 12
    pool_name_pattern = POOL_NAME
    # learn.microsoft.com/azure/aks/availability-zones; names of pools: Azure/AKS issue 3300
    zone_names = tuple(ZONES)
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
    # at least one pool must have this mode: ansible-collections/azure issue 164
    system_mode = ("mode", "System")  # taints that the autoscaler ignores: Azure/AKS issue 2578
    system_machine = "Standard_D4s_v5"  # AKS requires 4 vCPUs
    gpu_images = {"amd64": IMAGE, "arm64": IMAGE}
    system_images = {"amd64": IMAGE, "arm64": IMAGE}
    secure_boot = "securityProfile.enableSecureBoot"
    # learn.microsoft.com/azure/aks/use-nvidia-gpu; the DRA driver's kubelet plugin runs only on
    # Linux.
    images_without_driver = (
        "AzureLinuxOSGuard",
        "Flatcar",
        "Windows2019",
        "Windows2022",
        "Windows2025",
    )
    driver_left_out = (("gpuProfile.driver", "None"),)
    # learn.microsoft.com/azure/aks/aks-managed-gpu-nodes, quoted in ai-dynamo/dynamo pull request
    # 14506, read 2026-11-28
    driver_kept = (("gpuProfile.nvidia.managementMode", "Managed"),)

    tolerates_extended_resources = True  # learn.microsoft.com/azure/aks/faq: admission controllers

    reserved_domains = ("kubernetes.azure.com",)
    # Azure/AKS issue 4418: Spot pools can set the label that AKS adds to their nodes
    settable_labels = frozenset({SPOT_TAINT.key})
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

    own_driver = "the AKS DRA driver"
    # Azure/aks-gpu:install.sh@dde3239: binaries in /usr/bin, libraries in /usr/lib
    driver_root = "/"
    # The driver publishes existing MIG devices, but gpuInstanceProfile is meant for the device
    # plugin: it's the same on every GPU, can't be changed, and is applied before the driver starts.
    # No source confirms that it works with the DRA driver.
    supports_mig = False
    driver_source = (
        "gpuInstanceProfile works only with the device plugin, and gives all GPUs in a pool the "
        "same permanent partitions (learn.microsoft.com/azure/aks/gpu-multi-instance)"
    )

    image_label = "kubernetes.azure.com/node-image-version"
    dated_facts = ("aks-image", "aks-dra-driver")
    fact_sources = ("azure", "aks")
    infiniband_needs = (
        "InfiniBand on AKS needs the feature Microsoft.ContainerService/AKSInfinibandSupport, a "
        "host driver (NVIDIA Network Operator with DOCA), and a higher memlock limit for pods"
    )

    provider = "pulumi:providers:azure-native"
    provider_region = "location"
    cluster = pulumi_resources.CLUSTER
    pool = pulumi_resources.POOL

    node_network = pulumi_resources.NODE_NETWORK
    # MicrosoftDocs/azure-aks-docs:articles/aks/use-pod-sandboxing.md@fb060ab
    runtime_classes = ("kata-mshv-vm-isolation", "kata-vm-isolation", "kata-cc-isolation")
    identity = pulumi_resources.IDENTITY
    federated_accounts = pulumi_resources.FEDERATED_ACCOUNTS

    volume_drivers = pulumi_resources.VOLUME_DRIVERS
    default_storage_class = "default"
    disk_keys = pulumi_resources.DISK_KEYS
    registry = pulumi_resources.REGISTRY
    pod_policies = pulumi_resources.POD_POLICIES

    def image_fault(self, machine: Machine, image: str) -> RejectedValue | None:
        return image_fault(machine, image)

    def own_dra_driver(
        self, pool: Mapping[str, Any], image: str = "", boot_script: str = ""
    ) -> str:
        """Return the property of the GPU profile that controls DRA, unless it's off.

        No known API version has such a property yet. AKS announced the driver for October 2026
        (Azure/AKS issue 5962), and node images know a switch enable_managed_gpu_dra
        (Azure/AgentBaker:aks-node-controller@06836ee).
        """
        return next(dra_settings(pool.get("gpuProfile"), "gpuProfile"), "")

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
        """Return the taint of Spot nodes (learn.microsoft.com/azure/aks/spot-node-pool). GPU nodes
        don't get a taint.
        """
        return (SPOT_TAINT,) if nodes.capacity == "spot" else ()

    def image_labels(self, machine: Machine) -> dict[str, str]:
        return {"kubernetes.azure.com/os-sku": IMAGE}

    def knows_network_interfaces(self, machine: Machine) -> bool:
        return False

    def pool_name(self, text: str) -> str:
        """Return a name of letters and digits: nc4ast4v3 for Standard_NC4as_T4_v3."""
        return re.sub(r"[^a-z0-9]", "", text.lower().removeprefix("standard_"))[
            : self.longest_pool_name
        ]

    def zone_fault(self, zone: str, region: str = "") -> str:
        fault = super().zone_fault(zone, region)
        if zone in tuple(ZONES):
            return (
                f'"{zone}" doesn\'t include its region; use '
                f'"{region or self.region_example}-{zone}"'
            )
        return fault

    def address_fault(self, cidr: str) -> str:
        """Return why AKS rejects an address range.

        Sources: Azure/azure-cli-extensions issue 1764 and MicrosoftDocs/azure-docs issue 98356
        (only public addresses); Azure/terraform-azurerm-aks issue 378 (0.0.0.0/32, which doesn't
        allow any address, together with other ranges).
        """
        if ":" in cidr:
            return f'"{cidr}" isn\'t an IPv4 network, and AKS supports only IPv4'
        if cidr == NOBODY:
            return (
                f'"{cidr}" doesn\'t allow any addresses, and AKS rejects it in a list with other '
                "ranges; use an empty list for a private cluster"
            )
        return private_network_fault(cidr)

    def cluster_faults(self, cluster: ClusterSettings) -> Iterator[Fault]:
        yield from super().cluster_faults(cluster)
        if len(cluster.subnet_ids) > 1:
            yield (
                "network.subnetIds",
                "must contain only one subnet, because a subnet spans all zones on AKS",
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
            and (fault := partition_fault(pool))
        ):
            yield "mig", fault
        if len(pool.name) <= self.longest_pool_name and not re.fullmatch(POOL_NAME, pool.name):
            yield (
                "name",
                f'"{pool.name}" isn\'t valid on AKS; use lowercase letters and digits, and begin '
                "with a letter",
            )
        if (
            pool.machine is not None
            and not pool.is_served
            and (fault := machine_fault(pool.machine))
        ):
            yield "machine", fault

    def purchase_fault(self, machine: Machine, capacity: str) -> RejectedValue | None:
        if capacity != "reservation" or not _NEVER_RESERVED.fullmatch(machine.name):
            return super().purchase_fault(machine, capacity)
        return RejectedValue(
            f"Azure capacity reservations don't support {machine.name}. They exclude all ND sizes and "
            "NCads_H100_v5 (see "
            "learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview)",
            "use on-demand or spot",
        )

    def reserved_cpu_milli(self, vcpus: int) -> int:
        return reserved_cpu_of_node(vcpus)

    def subnet_addresses(self, machine: Machine, settings: AllocatableSettings, pods: int) -> int:
        return 1

    def pod_range_addresses(self, settings: AllocatableSettings) -> int:
        """Return the size of a node's /24 range in an overlay network, which the components
        configure.

        Sources:
        MicrosoftDocs/azure-aks-docs:articles/aks/concepts-network-ip-address-planning.md@546865d;
        Azure/AKS issues 4367 (256 nodes in a /16) and 4467 (the maximums of all pools count, and
        one additional node for upgrades).
        """
        return 256

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        return allocatable_resources(machine, vcpus, memory_mib, settings)


CLOUD = Aks()
